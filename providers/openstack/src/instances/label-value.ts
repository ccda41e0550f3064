/** Values of Kubernetes labels, out of what OpenStack lets people write. */

const MAX_LENGTH = 63;
const VALID = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Also not empty. */
export function isLabelValue(text: string): boolean {
  return text.length <= MAX_LENGTH && VALID.test(text);
}

/**
 * The nearest valid value: each run of other characters becomes one `-`, and what may not be at the ends goes. `undefined` when
 * nothing is left. Zones get the names that kubernetes/cloud-provider-openstack gives them (`SanitizeLabel`, pkg/util/util.go),
 * which PersistentVolumes have in their node affinity; one that it cuts at 63 to end in a dash is valid here.
 */
export function labelValueOf(text: string | null | undefined): string | undefined {
  // From the end by hand: an expression would try each of the characters within the text as the first of its end.
  const trim = (value: string): string => {
    let end = value.length;
    while (end > 0 && /[-_.]/.test(value.charAt(end - 1))) end--;
    return value.slice(0, end).replace(/^[-_.]+/, '');
  };
  const value = trim(trim((text ?? '').replaceAll(/[^-A-Za-z0-9_.]+/g, '-')).slice(0, MAX_LENGTH));
  return value === '' ? undefined : value;
}
