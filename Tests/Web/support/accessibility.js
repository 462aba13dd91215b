// What a page has to have for people who don't see it or don't use a mouse. `check` runs in the page, and returns what is
// wrong; it has no dependency, so that it can be sent there as text.

export function check() {
  const wrong = [];
  const say = (what, one) => wrong.push(`${what}: ${one.outerHTML.slice(0, 160)}`);
  const shown = (one) => one.checkVisibility() && !one.closest('[hidden]');
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  const textOf = (one) => {
    const labelled = one.getAttribute('aria-labelledby')?.split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ');
    return (labelled || one.getAttribute('aria-label') || [...(one.labels ?? [])].map((label) => label.textContent).join(' ') || one.textContent).trim();
  };

  // MARK: Structure

  if (!document.documentElement.lang) wrong.push('the document has no language');
  if (!document.title) wrong.push('the document has no title');
  for (const landmark of ['main', 'h1']) if (all(landmark).length !== 1) wrong.push(`there are ${all(landmark).length} of ${landmark}`);
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`two elements have the id ${id}`);
  let level = 0;
  for (const heading of all('h1, h2, h3, h4')) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) say('a level of headings is left out', heading);
    level = own;
  }
  for (const region of all('section, nav, form, [role=search], dialog, table')) {
    const name = textOf(region.tagName === 'TABLE' ? region.querySelector('caption') ?? region : region);
    const isNamed = region.tagName === 'TABLE' ? name : region.getAttribute('aria-label') || region.getAttribute('aria-labelledby');
    if (!isNamed || !name) say('a region has no name', region);
  }
  for (const one of document.querySelectorAll('[aria-labelledby], [aria-describedby]')) {
    for (const name of ['aria-labelledby', 'aria-describedby']) {
      for (const id of one.getAttribute(name)?.split(' ') ?? []) if (!document.getElementById(id)) say(`${name} names nothing`, one);
    }
  }
  const roles = new Set(['status', 'alert', 'log', 'search', 'table', 'rowgroup', 'row', 'cell', 'columnheader']);
  for (const one of document.querySelectorAll('[role]')) if (!roles.has(one.getAttribute('role'))) say('an unknown role', one);
  for (const row of all('tbody tr')) {
    if (row.children.length !== row.closest('table').querySelectorAll('thead th').length) say('a row has other columns', row);
  }
  if (!document.querySelector('[role=status][aria-live=polite]')) wrong.push('there is no live region');

  // MARK: Controls

  const controls = all('a[href], button, input, select, textarea, summary');
  for (const control of controls) {
    if (!textOf(control)) say('a control has no name', control);
    if (control.tabIndex > 0) say('a control changes the order', control);
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(control.tagName) && !control.getAttribute('aria-label') && control.labels.length === 0) say('a field has no label', control);
    const { width, height } = control.getBoundingClientRect();
    const isInText = control.tagName === 'A' || control.type === 'checkbox';
    if (!isInText && (width < 24 || height < 24)) say(`a target is ${Math.round(width)} by ${Math.round(height)} px`, control);
  }
  for (const one of all('[onclick]')) say('a handler stands in the markup', one);

  // MARK: Contrast

  const parts = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = parts(color).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (one) => {
    for (let place = one; place; place = place.parentElement) {
      const color = getComputedStyle(place).backgroundColor;
      if ((parts(color)[3] ?? 1) === 1) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((first, second) => second - first);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.textContent.trim() || !shown(one) || one.closest('#skip, :disabled, noscript')) continue;
    const ratio = contrast(getComputedStyle(one).color, groundOf(one));
    if (ratio < 4.5) seen.set(`${one.tagName}.${one.className}`, `text has a contrast of ${ratio.toFixed(2)}: ${one.outerHTML.slice(0, 120)}`);
  }
  for (const control of all('input, select, textarea, button:not(.quiet):not(:disabled)')) {
    const { borderTopColor, backgroundColor } = getComputedStyle(control);
    const around = groundOf(control.parentElement);
    const ratio = Math.max(contrast(borderTopColor, around), contrast(backgroundColor, around));
    if (ratio < 3) seen.set(`${control.tagName}.${control.className}`, `an edge has a contrast of ${ratio.toFixed(2)}: ${control.outerHTML.slice(0, 120)}`);
  }
  return [...wrong, ...seen.values()];
}
