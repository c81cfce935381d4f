// Shows what the service says. It changes nothing: what counts is changed where the service listens to.
const list = (id, lines, none) => {
  const shown = (lines.length ? lines : [none]).map((line) => {
    const item = document.createElement('li');
    item.textContent = line;
    return item;
  });
  document.getElementById(id).replaceChildren(...shown);
};
const ask = async (what) => (await chrome.runtime.sendMessage({ ask: what }).catch(() => null)) ?? {};
const state = document.getElementById('state');

const { answer, problem } = await ask('status');
state.textContent = answer ? 'Connected to the service of this machine.' : `Not connected: ${problem?.message ?? 'no answer'}`;
const { task, standing = [], sites = [] } = answer ?? {};
list('task', task ? [...task.origins, `raised to ${task.container}`] : [], 'no task is open: nothing is read and nothing is filled');
list('standing', standing, 'none: you are asked about everything');
list('sites', sites, 'none');
const trail = await ask('trail');
list('trail', trail.answer?.lines ?? [], 'nothing to show');
document.body.dataset.ready = '';
