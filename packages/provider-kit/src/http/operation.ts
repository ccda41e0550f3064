/** `PUT /servers/{id}`: what a request is counted as, and its method and path. */
import { CloudError, quote } from '@outrigger/cloud-provider';
import type { HttpMethod } from './http-transport.ts';

/** The method, a space, the path below the root. `{id}` stands for a parameter, `{+id}` for one that may have slashes in it. */
export type Operation = `${HttpMethod} /${string}`;

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Parameters are encoded. Throws `invalid` for one that is missing, empty, or would lead elsewhere: IDs come from annotations too. */
export function pathOf(operation: Operation, params: Readonly<Record<string, string>> = {}): string {
  const template = operation.slice(operation.indexOf(' ') + 1);
  return template.replaceAll(/\{(\+?)(\w+)\}/gu, (_all, plus: string, name: string) => {
    const value = params[name] ?? '';
    const segments = plus === '' ? [value] : value.split('/').filter((one) => one !== '');
    if (segments.length === 0 || segments.some((one) => one === '' || one === '.' || one === '..')) {
      throw new CloudError('invalid', `${operation}: ${quote(value)} is no ${name}`);
    }
    return segments.map(encodeURIComponent).join('/');
  });
}

/** `?a=1&b=2`, or nothing. What is `undefined` is left out; a list repeats its name. */
export function queryOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return typeof value === 'object' ? value.map((one) => [name, one]) : [[name, String(value)]];
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

export function methodOf(operation: Operation): HttpMethod {
  return operation.slice(0, operation.indexOf(' ')) as HttpMethod;
}
