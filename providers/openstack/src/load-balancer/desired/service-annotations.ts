/** The annotations of one Service, read and checked. */
import { CloudError, quote, refuseLonger, type LoadBalancerWarning } from '@outrigger/cloud-provider';
import { annotationTable, type AnnotationKey, type AnnotationRow, type AnnotationValues } from './annotation-table.ts';
import { isUuid } from '../../uuid.ts';

/** Told of a value that is none, and that only what is there already does without: what a new load balancer is refused with. */
export type Doubt = (key: AnnotationKey, refused: CloudError) => void;

/**
 * All of them, in the table's order. One that is empty counts as not set, but for text, which is the empty text then: so a Service
 * undoes what the cloud config says, as with CPO. A value that is none is passed over with a warning where CPO takes the default, so that
 * a Service which it serves is served on; else it throws `invalid`, with name and value.
 */
export function readAnnotations(
  annotations: Readonly<Record<string, string>>,
  warn: (warning: LoadBalancerWarning) => void = () => {},
  doubt: Doubt = () => {},
): AnnotationValues {
  const rows: readonly (readonly [string, AnnotationRow])[] = Object.entries(annotationTable);
  const isServed = isUuid(annotations[annotationTable.loadBalancerId.name]?.toLowerCase() ?? '');
  const values = rows.map(([key, row]) => {
    const doubtIt = isServed ? (refused: CloudError) => doubt(key as AnnotationKey, refused) : undefined;
    return [key, valueOf(row, annotations[row.name], warn, doubtIt)];
  });
  // By the table's type each row gives what `AnnotationValues` says of its key.
  return Object.fromEntries(values) as AnnotationValues;
}

/** An annotation that Services of this shape cannot have: `annotation loadbalancer.openstack.org/class: "dmz": …`. */
export function refuseAnnotation(key: AnnotationKey, value: string, why: string): never {
  throw new CloudError('invalid', `annotation ${annotationTable[key].name}: ${quote(value)}: ${why}`);
}

function valueOf(
  { name, range, values, written, maxLength, orDefault }: AnnotationRow,
  text: string | undefined,
  warn: (warning: LoadBalancerWarning) => void,
  doubt: ((refused: CloudError) => void) | undefined,
): unknown {
  if (text === undefined || written) return undefined;
  refuseLonger(`annotation ${name}`, text, maxLength);
  if (values === 'string') return text;
  if (text === '') return values === 'uuid' ? '' : undefined;
  const refusal = (wanted: string): CloudError =>
    new CloudError('invalid', `annotation ${name}: ${quote(text)} is not ${wanted}`);
  const passOver = (wanted: string): undefined => {
    if (orDefault === 'once-served' && doubt) doubt(refusal(wanted));
    else if (orDefault !== 'always') throw refusal(wanted);
    const message = `annotation ${name} is ignored, and the default taken: ${quote(text)} is not ${wanted}`;
    warn({ reason: 'LoadBalancerAnnotationIgnored', message });
    return undefined;
  };
  if (values === 'boolean') return text === 'true' || (text === 'false' ? false : passOver('"true" or "false"'));
  if (values === 'uuid') {
    const id = text.toLowerCase();
    return isUuid(id) ? id : passOver('an ID (a UUID; names are not looked up)');
  }
  if (values === 'integer') {
    const [least, most] = range ?? [0, 0];
    const wanted = `a whole number from ${least} to ${most}`;
    if (!/^[+-]?\d{1,15}$/.test(text)) return passOver(wanted);
    // CPO sends a number on, whatever it is, and Octavia refuses it.
    const number = Number(text);
    if (number >= least && number <= most) return number;
    throw refusal(wanted);
  }
  return values.includes(text) ? text : passOver(`one of ${values.join(', ')}`);
}
