/** The annotations of Services that a provider reads, as one table: they are declared, read, refused and described by it. */
import {
  CloudError,
  NAME_LENGTH,
  quote,
  refuseLonger,
  type LoadBalancerWarning,
  type ServiceAnnotation,
} from '@outrigger/cloud-provider';
import { wholeNumber } from '../config/value-kinds.ts';

export interface AnnotationRow {
  /** `lb.acme.example/size`. */
  readonly name: string;
  readonly values: ServiceAnnotation['values'];
  /** What it asks for, and what is without it. */
  readonly meaning: string;
  /** Of an integer; both inclusive. Default: whole numbers that are exact. */
  readonly range?: readonly [least: number, most: number];
  /** Of a text: what it has to be, and whether it is. Default: any. */
  readonly form?: {
    readonly name: string;
    readonly test: (text: string) => boolean;
    /** It is more than it may be: then the refusal names the limit, and not the text. Default: never. */
    readonly isTooLarge?: (text: string) => boolean;
  };
  /** Characters, at most 4,096. Default: 255. */
  readonly maxLength?: number;
  /** A value that is none counts as not set, with a warning. Default: the Service is refused. */
  readonly orDefault?: true;
  /** It names something of the cloud that may be another's, and what one could do by that: see `ServiceAnnotation`. */
  readonly dangerous?: string;
  /** Why this cloud, as it is configured, cannot do it: a Service that asks for it is refused. Default: it can. */
  readonly unsupported?: string | undefined;
  /** The provider writes it, and does not read what stands there. */
  readonly written?: true;
}

export type AnnotationRows = Readonly<Record<string, AnnotationRow>>;

/** What is not set, or set to nothing, is `undefined`. */
export type AnnotationValues<Rows extends AnnotationRows> = {
  readonly [Key in keyof Rows]:
    | (Rows[Key]['values'] extends 'boolean'
        ? boolean
        : Rows[Key]['values'] extends 'integer'
          ? number
          : Rows[Key]['values'] extends readonly (infer Word)[]
            ? Word
            : string)
    | undefined;
};

export interface AnnotationTable<Rows extends AnnotationRows> {
  /** `LoadBalancers.annotations`. */
  readonly declared: readonly ServiceAnnotation[];
  /** Throws `invalid` or `unsupported`, with the annotation's name and value. `warn` takes what is read over. */
  read(
    annotations: Readonly<Record<string, string>>,
    warn?: (warning: LoadBalancerWarning) => void,
  ): AnnotationValues<Rows>;
  /** Throws: a value that a Service of this shape cannot have; `undefined`: one that is more than it may be, which is not repeated. */
  refuse(key: keyof Rows, value: string | undefined, why: string): never;
  /** Markdown, a row an annotation. */
  readonly page: string;
}

export function annotationTable<const Rows extends AnnotationRows>(rows: Rows): AnnotationTable<Rows> {
  const all = Object.entries(rows);
  return {
    declared: all.filter(([, row]) => !row.written).map(([, row]) => declared(row)),
    read: (annotations, warn = () => {}) =>
      // By the type of the rows each gives what `AnnotationValues` says of its key.
      Object.fromEntries(
        all.map(([key, row]) => [key, valueOf(row, annotations[row.name], warn)]),
      ) as AnnotationValues<Rows>,
    refuse: (key, value, why) => {
      const said = value === undefined ? why : `${quote(value)}: ${why}`;
      throw new CloudError('invalid', `annotation ${rows[key]?.name}: ${said}`);
    },
    page: [
      '| Annotation | Values | Meaning |',
      '|---|---|---|',
      ...all.map(
        ([, row]) => `| \`${row.name}\` | ${wordsFor(row).replaceAll('|', String.raw`\|`)} | ${meaningOf(row)} |`,
      ),
      '',
    ].join('\n'),
  };
}

function declared({ dangerous, maxLength, meaning, name, values }: AnnotationRow): ServiceAnnotation {
  return {
    name,
    description: meaning,
    values,
    ...(dangerous !== undefined && { dangerous }),
    ...(maxLength !== undefined && { maxLength }),
  };
}

function valueOf(row: AnnotationRow, text: string | undefined, warn: (warning: LoadBalancerWarning) => void): unknown {
  const { maxLength = NAME_LENGTH, name, orDefault, unsupported, written } = row;
  if (text === undefined || text === '' || written) return undefined;
  refuseLonger(`annotation ${name}`, text, maxLength);
  if (unsupported !== undefined)
    throw new CloudError('unsupported', `annotation ${name}: ${quote(text)}: ${unsupported}`);
  const value = parse(row, text);
  if (value !== undefined) return value;
  const why = `${row.form?.isTooLarge?.(text) ? 'the value' : quote(text)} is not ${wordsFor(row)}`;
  if (!orDefault) throw new CloudError('invalid', `annotation ${name}: ${why}`);
  const message = `annotation ${name} is ignored, and the default taken: ${why}`;
  warn({ reason: 'LoadBalancerAnnotationIgnored', message });
  return undefined;
}

function parse({ form, range, values }: AnnotationRow, text: string): unknown {
  if (values === 'boolean') return text === 'true' || (text === 'false' ? false : undefined);
  if (values === 'integer') {
    const [least, most] = range ?? [Number.MIN_SAFE_INTEGER];
    return wholeNumber(least, most).read(text);
  }
  if (values === 'string') return !form || form.test(text) ? text : undefined;
  return values.find((word) => word === text);
}

function wordsFor({ form, range, values }: AnnotationRow): string {
  if (values === 'boolean') return 'true or false';
  if (values === 'integer') return range ? `a whole number from ${range[0]} to ${range[1]}` : 'a whole number';
  return values === 'string' ? (form?.name ?? 'text') : `one of ${values.join(', ')}`;
}

function meaningOf({ dangerous, meaning, unsupported, written }: AnnotationRow): string {
  const all = [
    meaning,
    ...(written ? ['Written by the provider, and not read.'] : []),
    ...(unsupported === undefined ? [] : [`Refused: ${unsupported}.`]),
    ...(dangerous === undefined ? [] : [`Dangerous: who may write it ${dangerous}, where nothing holds it back.`]),
  ];
  return all.join(' ').replaceAll('|', String.raw`\|`);
}
