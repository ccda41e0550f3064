/** The page of the chart's values, made of the comments and defaults of values.yaml and the shapes of values.schema.json. */
import { readFileSync } from 'node:fs';
import { isMap, isScalar, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml';

const CHART = new URL('../deploy/helm/outrigger-cloud-controller-manager/', import.meta.url);

const HEAD = `# Values of the Helm chart

<!-- Made by scripts/helm-values-page.ts of the chart's values.yaml and values.schema.json. -->

What the chart [\`deploy/helm/outrigger-cloud-controller-manager\`](../../deploy/helm/outrigger-cloud-controller-manager/values.yaml) can be told;
[how to install it](../guides/deploy/helm.md). A value that is not here, or of another shape, is refused.

| Value | Shape | Default | Meaning |
|---|---|---|---|
`;

/** The part of JSON Schema that values.schema.json uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

interface Value {
  /** With dots: `image.tag`. */
  readonly name: string;
  readonly shape: string;
  /** In JSON. */
  readonly fallback: string;
  readonly meaning: string;
}

export function helmValuesPage(): string {
  const rows = chartValues().map(({ name, shape, fallback, meaning }) =>
    [`\`${name}\``, shape, `\`${fallback}\``, meaning].map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | '),
  );
  return `${HEAD}${rows.map((row) => `| ${row} |\n`).join('')}`;
}

/** Throws where a value has no comment, or where the schema and the defaults do not have the same values. */
export function chartValues(): readonly Value[] {
  const document = parseDocument(readFileSync(new URL('values.yaml', CHART), 'utf8'));
  const schema = JSON.parse(readFileSync(new URL('values.schema.json', CHART), 'utf8')) as Schema;
  if (!isMap(document.contents)) throw new Error('values.yaml is no map');
  return valuesOf(document.contents, schema, { root: schema, prefix: '', inherited: document.commentBefore });
}

interface Place {
  readonly root: Schema;
  readonly prefix: string;
  /** The comment before the first key, which the parser takes as the map's. */
  readonly inherited?: string | null | undefined;
}

function valuesOf(map: YAMLMap, schema: Schema, { inherited, prefix, root }: Place): readonly Value[] {
  const { properties = {} } = resolve(schema, root);
  const pairs = map.items as unknown as readonly Pair<Node, Node>[];
  const names = pairs.map(({ key }) => String(key));
  // What a chart around this one hands to all of its parts.
  const missing = Object.keys(properties).filter((name) => !names.includes(name) && name !== 'global');
  if (missing.length > 0) throw new Error(`values.yaml lacks ${prefix}: ${missing.join(', ')}`);
  return pairs.flatMap(({ key, value }, i) => {
    const name = `${prefix}${String(key)}`;
    const property = properties[String(key)];
    if (!property) throw new Error(`values.schema.json lacks ${name}`);
    const comment = key.commentBefore ?? (i === 0 ? (map.commentBefore ?? inherited) : undefined);
    if (isMap(value) && value.items.length > 0) {
      const own = comment ? [{ name, shape: 'object', fallback: '…', meaning: text(comment) }] : [];
      return [...own, ...valuesOf(value, property, { root, prefix: `${name}.` })];
    }
    if (!comment) throw new Error(`values.yaml: ${name} has no comment`);
    const fallback = JSON.stringify(isScalar(value) ? value.value : (value?.toJSON() ?? null));
    return [{ name, shape: shapeOf(property, root), fallback, meaning: text(comment) }];
  });
}

function text(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .replaceAll('<', '&lt;');
}

function resolve(schema: Schema, root: Schema): Schema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : (root.$defs?.[name] ?? schema);
}

function shapeOf(schema: Schema, root: Schema): string {
  const { enum: words, items, maximum, minimum, pattern, required, type } = resolve(schema, root);
  if (words) return words.map((word) => `\`${word === '' ? '""' : word}\``).join(', ');
  const types = typeof type === 'string' ? [type] : (type ?? []);
  if (types.includes('array')) {
    const what = items ? ` of ${shapeOf(items, root)}` : '';
    return `list${what}${types.includes('null') ? ', or null' : ''}`;
  }
  const range = [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
    ...(pattern === undefined ? [] : [`\`${pattern}\``]),
    ...(required ? [`with ${required.map((name) => `\`${name}\``).join(', ')}`] : []),
  ];
  return [types.join(' or '), ...range].join(' ');
}
