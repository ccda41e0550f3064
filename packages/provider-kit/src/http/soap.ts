/** SOAP 1.1 for an `HttpClient`: `format: soapFormat`, `errorOf: soapError`, and a body by `soapEnvelope`. */
import type { BodyFormat } from './http-client.ts';
import type { ApiError } from './refusal.ts';
import { xmlChild, xmlText } from './xml-element.ts';
import { xmlFormat } from './xml-format.ts';

/** An element to be written: its children in the order of the schema, attributes as `@type`, text as `#text`. */
export interface XmlElement {
  readonly [name: string]: XmlValue;
}
type XmlValue = string | number | boolean | undefined | XmlElement | readonly XmlValue[];

const xml = xmlFormat({ attributes: true });

/** Attributes are kept. A body that is a text already, as one that is signed, goes as it is. */
export const soapFormat: BodyFormat = {
  mediaType: 'text/xml',
  writes: 'text/xml; charset=utf-8',
  write: (body) => (typeof body === 'string' ? body : xml.write(body)),
  read: (text) => xml.read(text),
};

/** A request: the method's element, in its namespace, with what it is asked with. `xsi:type` may be used in it. */
export function soapEnvelope(method: string, args: XmlElement, namespace: string): XmlElement {
  return {
    'soapenv:Envelope': {
      '@xmlns:soapenv': 'http://schemas.xmlsoap.org/soap/envelope/',
      '@xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'soapenv:Body': { [method]: { '@xmlns': namespace, ...args } },
    },
  };
}

/** The element `<method>Response` of what was read. `undefined`: it is an answer to something else. */
export function soapAnswer(body: unknown, method: string): unknown {
  return xmlChild(body, 'Envelope', 'Body', `${method}Response`);
}

/**
 * For `errorOf`: as code the type of the fault in the detail, else the name of its element without `Fault` (`<InvalidLoginFault/>` is
 * `InvalidLogin`), else the fault code; as `detail` the texts in it by their names.
 */
export function soapError(body: unknown): ApiError | undefined {
  const fault = xmlChild(body, 'Envelope', 'Body', 'Fault');
  if (fault === undefined) return undefined;
  const [name = '', inner] = childrenOf(xmlChild(fault, 'detail'))[0] ?? [];
  const code = withoutPrefix(xmlText(xmlChild(inner, '@type')) ?? name.replace(/Fault$/u, ''));
  const texts = childrenOf(inner).flatMap(([key, child]): [string, string][] => {
    const text = xmlText(child);
    return text === undefined ? [] : [[key, text]];
  });
  return {
    code: code === '' || code === 'Fault' ? withoutPrefix(xmlText(xmlChild(fault, 'faultcode')) ?? '') : code,
    message: xmlText(xmlChild(fault, 'faultstring')) ?? '',
    detail: Object.fromEntries(texts),
  };
}

function childrenOf(element: unknown): readonly [string, unknown][] {
  if (typeof element !== 'object' || element === null) return [];
  return Object.entries(element).filter(([name]) => !name.startsWith('@') && name !== '#text');
}

/** The values of `xsi:type` and of fault codes are names with prefixes of the document. */
function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
