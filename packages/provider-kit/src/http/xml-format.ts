/** Bodies in XML, and the forms that are asked with where answers are XML. */
import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser';
import type { BodyFormat } from './http-client.ts';
import type { ApiError } from './refusal.ts';

export interface XmlFormatOptions {
  /**
   * Elements that are lists even with one item or none, by their paths from the root: `DescribeInstancesResponse.reservationSet.item`,
   * or a name for those of that name everywhere: `member`. Default: what comes twice is a list.
   */
  readonly lists?: readonly string[];
  /**
   * What is sent: XML, or a form as query APIs take it, in which `{ Filter: [{ Name: 'a', Value: ['b'] }] }` is
   * `Filter.1.Name=a&Filter.1.Value.1=b`. Default: `xml`.
   */
  readonly sends?: 'xml' | 'form';
  /**
   * Attributes are kept, and written: `<a t="x">1</a>` is `{ a: { '@t': 'x', '#text': '1' } }`; read without their prefixes, `xsi:type` as
   * `@type`. Default: false.
   */
  readonly attributes?: boolean;
  /** Of a form: what stands between a list and the numbers of its items, `member` in some APIs. Default: nothing. */
  readonly itemName?: string;
}

/**
 * `<a><b>1</b></a>` is `{ a: { b: '1' } }`: texts stay texts, so that an ID of digits keeps its zeros; namespaces are left out, and
 * attributes unless they are asked for; an empty element is `''`, as is a list without items. A document type is refused: it can define text that grows.
 */
export function xmlFormat({
  attributes = false,
  itemName,
  lists = [],
  sends = 'xml',
}: XmlFormatOptions = {}): BodyFormat {
  const names = new Set(lists);
  const parser = new XMLParser({
    ignoreAttributes: !attributes,
    attributeNamePrefix: '@',
    parseAttributeValue: false,
    ignoreDeclaration: true,
    removeNSPrefix: true,
    parseTagValue: false,
    // Characters by number (`&#34;`), which are XML, come with the named entities of HTML, which are none: there are none of these.
    htmlEntities: {} as unknown as boolean,
    // The path as a text, made for each element, was a quarter of the time of a long answer.
    jPath: false,
    isArray: (name, path) => names.has(name) || (names.size > 0 && names.has(path.toString())),
  });
  const builder = new XMLBuilder({
    suppressEmptyNode: true,
    ignoreAttributes: !attributes,
    attributeNamePrefix: '@',
    suppressBooleanAttributes: false,
  });
  return {
    mediaType: 'application/xml',
    ...(sends === 'form' && { writes: 'application/x-www-form-urlencoded' }),
    write: (body) => (sends === 'form' ? formOf(body, itemName) : builder.build(body)),
    read: (text) => {
      if (/<!DOCTYPE/iu.test(text)) throw new SyntaxError('XML with a document type is not read');
      const checked = XMLValidator.validate(text);
      if (checked !== true) throw new SyntaxError(checked.err.msg);
      return parser.parse(text) as unknown;
    },
  };
}

/** For `errorOf`: `<Error><Code/><Message/></Error>`, alone or in what EC2, the query APIs and S3 put around it. */
export function xmlError(body: unknown): ApiError | undefined {
  const at = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((one, name) => (one as Readonly<Record<string, unknown>> | undefined)?.[name], value);
  const found = [
    at(body, 'Error'),
    at(body, 'ErrorResponse', 'Error'),
    at(body, 'Response', 'Errors', 'Error'),
    at(body, 'ErrorResponse'),
  ].map((error) => (Array.isArray(error) ? (error[0] as unknown) : error));
  for (const error of found) {
    const [code, message] = [at(error, 'Code'), at(error, 'Message')];
    if (typeof code === 'string') return { code, message: typeof message === 'string' ? message : '' };
  }
  return undefined;
}

function formOf(body: unknown, itemName: string | undefined): string {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    const below = (key: string): string => (name === '' ? key : `${name}.${key}`);
    if (Array.isArray(value)) {
      value.forEach((item, index) =>
        add(below(itemName === undefined ? `${index + 1}` : `${itemName}.${index + 1}`), item),
      );
    } else if (typeof value === 'object') {
      for (const [key, member] of Object.entries(value)) add(below(key), member);
    } else {
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
  };
  add('', body);
  return form.toString();
}
