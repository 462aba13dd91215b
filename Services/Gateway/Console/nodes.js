// Is every node well: what each does and waits for, and what went wrong lately. For a key of all apps.

import * as calls from './calls.js';
import { bytes, counted, element, muted, number, quoted, sentence, time } from './dom.js';
import { loaded, section, table } from './view.js';

/** The nodes, with rates since the answer before. */
export function nodeList(context) {
  /** Of each node: what it had counted, and when. */
  let before = new Map();
  const list = loaded(context, calls.nodes, ({ nodes }) => {
    const now = performance.now();
    const rows = nodes.map((node) => ({ ...node, ...rates(node, before.get(node.node), now) }));
    before = new Map(nodes.map((node) => [node.node, { node, at: now }]));
    return [muted(readiness(nodes)), table('Nodes', columns, rows)];
  });
  return { place: section(context, 'Nodes', { call: calls.nodes }, list.place), load: list.load };
}

/** How many nodes there are, and how many of them aren't well. */
export function readiness(nodes) {
  const away = nodes.filter(({ unreachable }) => unreachable !== undefined).length;
  const waiting = nodes.filter(({ ready }) => ready === false).length;
  const worse = [away > 0 && `${number(away)} can't be asked`, waiting > 0 && counted(waiting, 'is not ready', 'are not ready')];
  const well = nodes.length === 1 ? 'It is ready' : 'All are ready';
  return `${counted(nodes.length, 'node')}. ${worse.filter(Boolean).join(', ') || well}.`;
}

/** A rate in `each` second; undefined in the first answer, and after a restart. */
function rates(node, last, now) {
  const isSame = last?.node.since !== undefined && last.node.since === node.since;
  const seconds = isSame ? (now - last.at) / 1000 : 0;
  const each = (name) =>
    seconds > 0 && node[name] !== undefined ? Math.max(0, (node[name] - last.node[name]) / seconds) : undefined;
  return { cpu: each('cpuSeconds'), inRate: each('messagesIn'), outRate: each('messagesOut') };
}

const rate = (total, perSecond) =>
  total === undefined ? '–' : perSecond === undefined ? number(total) : `${number(total)} (${number(Math.round(perSecond))}/s)`;

/** Two facts of a cell, below each other. */
const both = (first, second) => [element('div', {}, first), element('div', { class: 'muted' }, second)];

const columns = [
  { title: 'Node', cell: ({ node, program, version }) => both(quoted(node), program === undefined ? '' : quoted(`${program} ${version}`)) },
  { title: 'State', cell: (node) => both(state(node), time(node.since)) },
  { title: 'CPU', isNumber: true, cell: ({ cpu }) => (cpu === undefined ? '–' : `${number(Math.round(cpu * 100))} %`) },
  { title: 'Memory', isNumber: true, cell: ({ memoryBytes }) => bytes(memoryBytes) },
  { title: 'Sessions', isNumber: true, cell: ({ sessions }) => number(sessions) },
  { title: 'Messages in, out', isNumber: true, cell: (node) => both(rate(node.messagesIn, node.inRate), rate(node.messagesOut, node.outRate)) },
  { title: 'Gaps, journal behind', isNumber: true, cell: ({ gaps, journalBacklogBytes }) => both(number(gaps), bytes(journalBacklogBytes)) },
  { title: 'Refusals', cell: ({ refusals }) => list(refusals, ({ limit, count }) => `${limit}: ${number(count)}`) },
  { title: 'Limits used most', cell: ({ uses }) => list(fullest(uses), use) },
];

function state({ unreachable, ready, notReady = [] }) {
  if (unreachable !== undefined) return element('span', { class: 'warning' }, 'away: ', sentence(unreachable));
  if (ready && notReady.length === 0) return 'ready';
  const causes = list(notReady, (cause) => cause);
  return element('span', { class: ready ? undefined : 'warning' }, ready ? 'ready, without: ' : 'not ready: ', causes);
}

const list = (items = [], text) => {
  if (items.length === 0) return '–';
  const shown = items.slice(0, 3).map((item) => element('li', {}, sentence(text(item))));
  const more = items.length > 3 ? element('li', {}, `${number(items.length - 3)} more`) : undefined;
  return element('ul', { class: 'plain' }, shown, more);
};

const fullest = (uses = []) => uses.toSorted((left, right) => right.used / right.max - left.used / left.max).slice(0, 2);
const use = ({ limit, used, max }) => `${limit}: ${((100 * used) / max).toFixed(1)} %`;

/** The newest warnings and errors of all nodes. */
export function incidentList(context) {
  const incidents = loaded(context, () => calls.incidents(), ({ incidents }) =>
    table('Incidents', [
      { title: 'Time', cell: ({ time: when }) => (when === undefined ? 'now' : time(when)) },
      { title: 'Node', cell: ({ node }) => quoted(node) },
      { title: 'Level', cell: ({ level }) => level },
      { title: 'Whom', cell: ({ subject }) => (subject === undefined ? '' : quoted(subject)) },
      { title: 'What', cell: ({ message, cause }) => [sentence(message), cause && element('p', { class: 'muted' }, sentence(cause))] },
    ], incidents, 'Nothing went wrong lately.'),
  );
  return section(context, 'Last incidents', { call: () => calls.incidents() }, incidents.place);
}
