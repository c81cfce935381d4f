// The markup of a document with the values of its controls, for leak searches in tests.
globalThis.guard.html = () => {
  const held = everywhere(document, []).map((el) => {
    const set = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement].find((type) => el instanceof type);
    return set ? getter(set, 'value').call(el) : '';
  });
  const shadows = everywhere(document, []).map((el) => getter(Element, 'shadowRoot').call(el)?.innerHTML ?? '');
  return [getter(Element, 'outerHTML').call(document.documentElement), ...held, ...shadows].filter(Boolean).join('\n');
};
