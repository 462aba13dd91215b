// What is configured, where each value came from, and which nodes have it. For a key of all apps.

import * as calls from './calls.js';
import { content, element, muted, quoted, sentence } from './dom.js';
import { form, loaded, section, table } from './view.js';

export const title = 'Configuration';

export function show(main, context) {
  if (!context.api.isOperator) {
    main.append(muted('This is about all apps, so it needs a key for all of them with the scope admin.'));
    return;
  }
  let wanted = { changed: true };
  const call = () => calls.configuration(wanted);
  const list = loaded(context, call, ({ settings }) =>
    table('Settings', [
      { title: 'Key', cell: ({ key }) => quoted(key) },
      { title: 'Value', cell: ({ value }) => (value === undefined ? 'not set' : content(value, 120)) },
      { title: 'Source', cell: ({ source }) => sentence(source) },
      { title: 'Changes', cell: ({ isLive }) => (isLive ? 'while it runs' : 'with a restart') },
      { title: 'Nodes', cell: ({ nodes }) => element('ul', { class: 'plain' }, nodes.map((node) => element('li', {}, quoted(node)))) },
    ], settings, 'Everything is as it is built in.'),
  );
  const filter = form('Filter Settings', [
    { label: 'Begins with', name: 'prefix' },
    { label: 'Which', name: 'which', options: [['changed', 'other than built in'], ['all', 'all']] },
  ], 'Filter', ({ prefix, which }) => {
    wanted = { prefix, changed: which === 'changed' };
    list.load();
  });
  main.append(section(context, 'Settings', { call }, filter, list.place));
}
