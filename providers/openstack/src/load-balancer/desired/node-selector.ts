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

export function selectNodes(selector: string, backEnds: readonly BackEnd[]): readonly BackEnd[] {
  const wanted = [...parseNodeSelector(selector)];
  return backEnds.filter(({ node: { labels } }) =>
    wanted.every(([label, value]) => Object.hasOwn(labels, label) && (value === '' || labels[label] === value)),
  );
}
