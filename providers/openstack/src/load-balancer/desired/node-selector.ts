/** `env=production, region`: which nodes a Service's traffic goes to, by their labels. */
import type { BackEnd } from '@outrigger/cloud-provider';
import { SharedSelections } from '@outrigger/provider-kit';

/** Labels and their values; an empty value asks for the label alone. CPO's `StringToMap`: a label named twice counts as the last. */
export function parseNodeSelector(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const pair of text.trim().split(',')) {
    const [, label = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair.trim()) ?? [];
    if (label !== '') labels.set(label, value);
  }
  return labels;
}

/** Whoever has many Services has few selectors. */
const selections = new SharedSelections();

/** The same array for the same selector of the same array. */
export function selectNodes(selector: string, backEnds: readonly BackEnd[]): readonly BackEnd[] {
  return selections.select(backEnds, selector, () => {
    const wanted = [...parseNodeSelector(selector)];
    return ({ node: { labels } }) =>
      wanted.every(([label, value]) => Object.hasOwn(labels, label) && (value === '' || labels[label] === value));
  });
}
