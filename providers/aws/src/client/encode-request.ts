/** Requests of the protocols `ec2` and `query`: forms. */
import type { ServiceApi } from './service-api.ts';

/** `Action=DescribeInstances&Version=2016-11-15&InstanceId.1=i-1`. What is `undefined` is left out. */
export function encodeRequest(api: ServiceApi, operation: string, input: object): string {
  const { protocol, requests, version } = api;
  const pairs = [`Action=${encode(operation)}`, `Version=${encode(version)}`];
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) {
      const items = value as readonly unknown[];
      // "Set it to none", which the query APIs have and EC2 has not.
      if (items.length === 0 && protocol === 'query') pairs.push(`${name}=`);
      const prefix = protocol === 'query' ? `${name}.member` : name;
      for (const [index, item] of items.entries()) add(`${prefix}.${index + 1}`, item);
    } else if (typeof value === 'object') {
      for (const [member, inner] of Object.entries(value)) add(`${name}.${requests[member] ?? member}`, inner);
    } else {
      pairs.push(`${name}=${encode(`${value as string | number | boolean}`)}`);
    }
  };
  for (const [member, value] of Object.entries(input))
    add(requests[`${operation}.${member}`] ?? requests[member] ?? member, value);
  return pairs.join('&');
}

/** RFC 3986, as signatures count it. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/gu,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
