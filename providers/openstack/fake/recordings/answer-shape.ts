/** What two answers must have in common: keys, kinds of values, and the words that a client reads. */

const FORMATS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['hex', /^[0-9a-f]{32}$/],
  ['time with zone', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/],
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/],
  ['MAC', /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/],
  ['IPv4', /^\d+\.\d+\.\d+\.\d+$/],
  ['IPv6', /^[0-9a-f]*:[0-9a-f:]*:[0-9a-f:]*$/],
  ['CIDR', /^[0-9a-f.:]+\/\d+$/],
  ['URL', /^https?:/],
];

/** Shown as they are: what a client decides by. */
const WORDS = new Set([
  'provisioning_status',
  'vm_state',
  'OS-EXT-STS:vm_state',
  'type',
  'protocol',
  'faultcode',
  'rel',
]);

/** Two answers of one shape are deeply equal after this. Order does not count, and alike elements of a list are one. */
export function shapeOf(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const shapes = new Map(value.map((each) => shapeOf(each)).map((shape) => [JSON.stringify(sorted(shape)), shape]));
    return [...shapes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, shape]) => shape);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner, name)]));
  }
  if (typeof value !== 'string' || WORDS.has(key))
    return value === null || typeof value === 'string' ? value : typeof value;
  return FORMATS.find(([, pattern]) => pattern.test(value))?.[0] ?? 'string';
}

/** How many there are in each list of an answer: what a filter or a page lets through. */
export function lengthsOf(answer: unknown): Readonly<Record<string, number>> {
  const lists = Object.entries(answer ?? {}).flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, value.length]] : [],
  );
  return Object.fromEntries(lists) as Record<string, number>;
}

/** The text of a refusal without the IDs, addresses and numbers of one day. */
export function wordsOf(refusal: unknown): string {
  return JSON.stringify(sorted(refusal))
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d+\.\d+\.\d+\.\d+/g, '<address>')
    .replaceAll(/[0-9a-f]*::[0-9a-f:]*/g, '<address>')
    .replaceAll(/current revision is \d+|Constrained to \d+/g, '<revision>');
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
