/** `env=production, region`: which nodes a Service's traffic goes to, by their labels. */
import type { BackEnd } from '@outrigger/cloud-provider';

/** Labels and their values; an empty value asks for the label alone. CPO's `StringToMap`: a label named twice counts as the last. */
export function parseNodeSelector(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const pair of text.trim().split(',')) {
    const [, label = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair.trim()) ?? [];
    if (label !== '') labels.set(label, value);
  }
  return labels;
}

/** So many selectors are remembered for one set of back ends. */
const REMEMBERED = 64;
/** Whoever has many Services has few selectors, and the host gives the same array until a node changes. */
const selected = new WeakMap<readonly BackEnd[], Map<string, readonly BackEnd[]>>();

/** The same array for the same selector of the same array: it goes through all nodes once for all Services. */
export function selectNodes(selector: string, backEnds: readonly BackEnd[]): readonly BackEnd[] {
  const known = selected.get(backEnds) ?? new Map<string, readonly BackEnd[]>();
  selected.set(backEnds, known);
  const before = known.get(selector);
  if (before) return before;
  const wanted = [...parseNodeSelector(selector)];
  const chosen = backEnds.filter(({ node: { labels } }) =>
    wanted.every(([label, value]) => Object.hasOwn(labels, label) && (value === '' || labels[label] === value)),
  );
  if (known.size < REMEMBERED) known.set(selector, chosen);
  return chosen;
}
