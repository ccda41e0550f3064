/** The annotations of one Service, read and checked. CPO lets a bad value fall back to the default; here it is refused. */
import { CloudError, quote, refuseLonger } from '@outrigger/cloud-provider';
import { annotationTable, type AnnotationKey, type AnnotationRow, type AnnotationValues } from './annotation-table.ts';
import { isUuid } from '../../uuid.ts';

/**
 * All of them, in the table's order. One that is empty counts as not set, but for text, which is the empty text then: so a Service
 * undoes what the cloud config says, as with CPO. Throws `invalid`, with name and value.
 */
export function readAnnotations(annotations: Readonly<Record<string, string>>): AnnotationValues {
  const rows: readonly (readonly [string, AnnotationRow])[] = Object.entries(annotationTable);
  const values = rows.map(([key, row]) => [key, valueOf(row, annotations[row.name])]);
  // By the table's type each row gives what `AnnotationValues` says of its key.
  return Object.fromEntries(values) as AnnotationValues;
}

/** An annotation that Services of this shape cannot have: `annotation loadbalancer.openstack.org/class: "dmz": …`. */
export function refuseAnnotation(key: AnnotationKey, value: string, why: string): never {
  throw new CloudError('invalid', `annotation ${annotationTable[key].name}: ${quote(value)}: ${why}`);
}

function valueOf({ name, range, values, answer, maxLength }: AnnotationRow, text: string | undefined): unknown {
  if (text === undefined || answer === 'written') return undefined;
  refuseLonger(`annotation ${name}`, text, maxLength);
  if (values === 'string') return text;
  if (text === '') return values === 'uuid' ? '' : undefined;
  const refuse = (wanted: string): never => {
    throw new CloudError('invalid', `annotation ${name}: ${quote(text)} is not ${wanted}`);
  };
  if (values === 'boolean') return text === 'true' || (text !== 'false' && refuse('"true" or "false"'));
  if (values === 'uuid') {
    const id = text.toLowerCase();
    return isUuid(id) ? id : refuse('an ID (a UUID; names are not looked up)');
  }
  if (values === 'integer') {
    const [least, most] = range ?? [0, 0];
    const number = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : refuse(`a whole number from ${least} to ${most}`);
  }
  return values.includes(text) ? text : refuse(`one of ${values.join(', ')}`);
}
