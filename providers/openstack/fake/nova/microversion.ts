/** Which microversion a request asks for, and whether the service has it. */
import type { FakeRequest } from '../fake-http.ts';
import { novaRefusal } from './nova-error.ts';

/** `2.69` as 69: nova has no other major version. */
export type Microversion = number;

const HEADER = /^compute (\S+)$/i;

/** Default, without a header: 2.1. */
export function microversionOf({ headers }: FakeRequest, max: Microversion): Microversion {
  const generic = headers['openstack-api-version']?.split(',').map((each) => HEADER.exec(each.trim())?.[1]);
  const asked = generic?.find((each) => each !== undefined) ?? headers['x-openstack-nova-api-version'];
  if (asked === undefined) return 1;
  if (asked === 'latest') return max;
  if (!/^2\.\d+$/.test(asked)) {
    throw novaRefusal(400, `API Version String ${asked} is of invalid format. Must be of format MajorNum.MinorNum.`);
  }
  const minor = Number(asked.slice(2));
  if (minor < 1 || minor > max) {
    throw novaRefusal(406, `Version ${asked} is not supported by the API. Minimum is 2.1 and maximum is 2.${max}.`);
  }
  return minor;
}
