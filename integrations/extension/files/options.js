// Shows the state of the service, and sends it stricter rules. The service accepts no looser ones from an extension.
const byId = (id) => document.getElementById(id);
const ask = async (message) => (await chrome.runtime.sendMessage(message).catch(() => null)) ?? {};

const made = (tag, text, name = '') => {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = name;
  return element;
};
const list = (id, lines, none) =>
  byId(id).replaceChildren(...(lines.length ? lines : [none]).map((line) => made('li', line)));
const row = (...cells) => {
  const element = document.createElement('tr');
  element.append(...cells.map((cell) => {
    if (!(cell instanceof Node)) return made('td', cell);
    if (cell.tagName === 'TD') return cell;
    const around = document.createElement('td');
    around.append(cell);
    return around;
  }));
  return element;
};
const fill = (id, rows) => byId(id).querySelector('tbody').replaceChildren(...rows);

const TOLD = {
  kept: 'Done. It holds from now on.',
  for_this_task: 'Done for the open task. It could not be kept beyond it.',
  nothing: 'There was nothing to change.',
  full: 'Not taken: as many rules stand as can. Take one back first, on the command line.',
  locked: 'The vault is locked: nothing is given away, and nothing could be kept. Start the service anew and try again.',
};

const change = async (message) => {
  byId('done').textContent = 'Asked of the service. Where a question is open, it waits for that.';
  const { answer, problem } = await ask(message);
  await show();
  byId('done').textContent = TOLD[answer?.changed] ?? `Not done: ${problem?.message ?? 'no answer'}`;
};

const standing = ({ kind, site, given, fields, until }) => {
  const named = fields.map((field) => field.replaceAll('_', ' ')).join(', ');
  const lasts = until ? `, until ${new Date(until).toLocaleDateString([], { dateStyle: 'medium' })}` : '';
  const answer = made('td', given ? `yes${lasts}` : 'never', given ? 'yes' : 'no');
  if (!given) return row(site, kind, answer, '');
  const button = made('button', 'Withdraw');
  button.type = 'button';
  button.addEventListener('click', () => change({ ask: 'withdraw', kind, site }));
  return row(site, named ? `${kind} (${named})` : kind, answer, button);
};

const when = (time) => (time === null ? '' : new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'medium' }));
const decided = (decision) => {
  const name = /^(yes|done|allowed)/.test(decision) ? 'yes' : /^(no|never|stopped)/.test(decision) ? 'no' : '';
  return made('td', decision, name);
};
const record = ({ time, what, where, decision }) => row(when(time), what, where, decided(decision));

async function show() {
  const { answer, sites = [], problem } = await ask({ ask: 'status' });
  byId('state').textContent = answer
    ? 'Connected to the service of this machine.'
    : `Not connected: ${problem?.message ?? 'no answer'}`;
  const { task, standing: all = [], kinds = [] } = answer ?? {};
  list('task', task ? [...task.origins, `raised to ${task.container}`] : [], 'no task is open: nothing is read and nothing is filled');
  byId('standing').hidden = all.length === 0;
  byId('asked-always').hidden = !answer || all.length > 0;
  fill('standing', all.map(standing));
  list('sites', sites, 'none');
  byId('rule').hidden = !answer;
  if (byId('kind').options.length === 0) byId('kind').append(...kinds.map((kind) => made('option', kind)));
  const trail = await ask({ ask: 'trail' });
  fill('trail', (trail.answer?.records ?? []).reverse().map(record));
}

byId('rule').addEventListener('submit', (event) => {
  event.preventDefault();
  const typed = byId('site').value.trim();
  let site;
  try {
    // A bare name means the site over https; of an address only its origin counts.
    const url = new URL(/^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`);
    site = url.origin;
  } catch {
    byId('done').textContent = 'This is no site. Write its address, such as https://shop.example.';
    return;
  }
  change({ ask: 'never', kind: byId('kind').value, site });
});

await show();
document.body.dataset.ready = '';
