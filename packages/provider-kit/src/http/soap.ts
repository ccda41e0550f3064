/** SOAP 1.1 over an `HttpClient` with `format: soapFormat` and `errorOf: soapError`. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { BodyFormat, HttpAnswer, HttpClient, HttpRequest } from './http-client.ts';
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

/** One of the SOAP APIs of a server. */
export interface SoapApi {
  readonly path: `/${string}`;
  readonly namespace: string;
  /** The header `SOAPAction`. */
  readonly action: string;
}

/** `idempotent`: default true, as most requests read. */
export type SoapRequest = Pick<HttpRequest, 'headers' | 'idempotent' | 'timeoutMs'>;

export class SoapClient {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** The whole answer: the element `<method>Response`. Rejects with `unavailable` where something else was answered. */
  async request(
    call: CallContext,
    api: SoapApi,
    method: string,
    args: XmlElement,
    options?: SoapRequest,
  ): Promise<{ readonly answer: unknown; readonly header: (name: string) => string | undefined }> {
    const whole = await this.send(call, api, method, soapEnvelope(method, args, api.namespace), options);
    const answer = soapAnswer(whole.body, method);
    if (answer !== undefined) return { answer, header: (name) => whole.header(name) };
    throw new CloudError('unavailable', `${method} was answered with something else; nothing is concluded from it`);
  }

  /** An envelope that is written already goes as it is. */
  send(
    call: CallContext,
    { action, path }: SoapApi,
    method: string,
    body: unknown,
    { headers, ...options }: SoapRequest = {},
  ): Promise<HttpAnswer<unknown>> {
    const given = { soapaction: action, ...headers };
    return this.#http.send(call, `POST ${path}`, { idempotent: true, ...options, body, name: method, headers: given });
  }
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
