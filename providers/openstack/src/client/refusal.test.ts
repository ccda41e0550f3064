import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudErrorCode } from '@outrigger/cloud-provider';
import type { ServiceType } from './api-client.ts';
import { refusalOf } from './refusal.ts';

const NOW = Date.UTC(2026, 0, 1);

function refusal(
  service: ServiceType,
  status: number,
  body: unknown,
  retryAfter?: string,
  path = '/v2.0/things/7d6f?fields=id',
): ReturnType<typeof refusalOf> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const header = (name: string): string | undefined => (name === 'retry-after' ? retryAfter : undefined);
  return refusalOf({ service, operation: 'GET /things/{id}', path }, { status, text, header }, NOW);
}

const html = (status: string): string => `<html><head><title>${status}</title></head><body>nginx</body></html>`;
const neutron = (type: string, message = 'said'): object => ({ NeutronError: { type, message, detail: '' } });
const octavia = (faultstring: string): object => ({ faultcode: 'Client', faultstring, debuginfo: null });
/** Neutron's words, as octavia passes them on. */
const overQuota = (last: string): string =>
  `Quota exceeded for resources: ['port'].\nNeutron server returns request_ids: ['req-001bba84-9139-451e-ad0a-e575f8605a4${last}']`;
const auth = {
  error: { message: 'The request you have made requires authentication.', code: 401, title: 'Unauthorized' },
};

/** Bodies as the services of release Zed give them. */
const codes: readonly (readonly [ServiceType, number, unknown, CloudErrorCode])[] = [
  ['compute', 404, { itemNotFound: { code: 404, message: 'Instance 7d6f could not be found.' } }, 'not-found'],
  ['compute', 404, { itemNotFound: { code: 404, message: 'The resource could not be found.' } }, 'unavailable'],
  ['compute', 404, '404 Not Found\n\nThe resource could not be found.\n', 'unavailable'],
  ['compute', 404, html('404 Not Found'), 'unavailable'],
  ['compute', 404, '', 'unavailable'],
  ['compute', 410, { gone: { code: 410, message: 'gone for good' } }, 'unavailable'],
  ['compute', 404, { badRequest: { code: 404, message: 'Instance 7d6f could not be found.' } }, 'unavailable'],
  [
    'compute',
    403,
    {
      forbidden: {
        code: 403,
        message: 'Quota exceeded for instances: Requested 1, but already used 10 of 10 instances',
      },
    },
    'quota',
  ],
  [
    'compute',
    403,
    { forbidden: { code: 403, message: "Policy doesn't allow os_compute_api:servers to be performed." } },
    'forbidden',
  ],
  [
    'compute',
    409,
    { conflictingRequest: { code: 409, message: 'Cannot stop it while it is in task_state powering-off' } },
    'conflict',
  ],
  [
    'compute',
    406,
    { computeFault: { code: 406, message: 'Version 2.999 is not supported by the API.' } },
    'unsupported',
  ],
  ['compute', 400, { badRequest: { code: 400, message: 'Invalid input' } }, 'invalid'],
  ['compute', 400, html('400 Bad Request'), 'unavailable'],
  ['compute', 500, { computeFault: { code: 500, message: 'Unexpected API Error.' } }, 'unavailable'],
  ['compute', 503, html('503 Service Unavailable'), 'unavailable'],
  ['compute', 401, auth, 'unauthenticated'],
  ['compute', 401, 'Authentication required', 'unauthenticated'],
  ['compute', 302, '', 'unavailable'],
  ['block-storage', 404, { itemNotFound: { code: 404, message: 'Volume 7d6f could not be found.' } }, 'not-found'],
  [
    'block-storage',
    413,
    { overLimit: { code: 413, message: 'VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded' } },
    'quota',
  ],
  ['network', 404, neutron('PortNotFound', 'Port 7d6f could not be found.'), 'not-found'],
  ['network', 404, neutron('HTTPNotFound', 'The resource could not be found.'), 'unavailable'],
  [
    'network',
    404,
    { message: 'The resource could not be found.', code: '404 Not Found', title: 'Not Found' },
    'unavailable',
  ],
  ['network', 409, neutron('OverQuota', "Quota exceeded for resources: ['floatingip']."), 'quota'],
  ['network', 409, neutron('IpAddressGenerationFailure', 'No more IP addresses available on network 7d6f.'), 'quota'],
  [
    'network',
    400,
    neutron('RoutesExhausted', 'Unable to complete operation for 7d6f. The number of routes exceeds the maximum 30.'),
    'quota',
  ],
  [
    'network',
    400,
    neutron('AllowedAddressPairExhausted', 'The number of allowed address pair exceeds the maximum 10.'),
    'quota',
  ],
  [
    'network',
    412,
    neutron('RevisionNumberConstraintFailed', 'Constrained to 1, but current revision is 2'),
    'conflict',
  ],
  ['network', 409, neutron('PortInUse'), 'conflict'],
  ['network', 400, neutron('InvalidRoutes', 'Invalid format for routes'), 'invalid'],
  ['load-balancer', 404, octavia('Load Balancer 7d6f not found.'), 'not-found'],
  ['load-balancer', 404, octavia('Not Found'), 'unavailable'],
  ['load-balancer', 404, html('404 Not Found'), 'unavailable'],
  ['load-balancer', 403, octavia('Quota has been met for resources: Load Balancer'), 'quota'],
  ['load-balancer', 500, octavia(`Provider 'amphora' reports error: ${overQuota('1')}`), 'quota'],
  ['load-balancer', 500, octavia("Provider 'amphora' reports error: quota of 3"), 'unavailable'],
  ['load-balancer', 403, octavia('Policy does not allow this request to be performed.'), 'forbidden'],
  ['load-balancer', 409, octavia('Load Balancer 7d6f is immutable and cannot be updated.'), 'conflict'],
  ['load-balancer', 429, html('429 Too Many Requests'), 'throttled'],
  ['load-balancer', 409, html('409 Conflict'), 'unavailable'],
  ['key-manager', 404, { code: 404, title: 'Not Found', description: 'Container not found.' }, 'not-found'],
  [
    'key-manager',
    403,
    { code: 403, title: 'Forbidden', description: 'Secret retrieval attempt not allowed' },
    'forbidden',
  ],
];

for (const [service, status, body, code] of codes) {
  test(`${service} ${status} ${JSON.stringify(body).slice(0, 80)} is ${code}`, () => {
    assert.equal(refusal(service, status, body).code, code);
  });
}

test('a 404 about something that the path does not name is no proof of absence of what it names', () => {
  const network = neutron('NetworkNotFound', 'Network 9a could not be found.');
  assert.equal(refusal('network', 404, network, undefined, '/v2.0/ports').code, 'conflict');
  assert.equal(refusal('network', 404, network, undefined, '/v2.0/ports/7d6f').code, 'conflict');
  const parent = octavia('Pool 9a not found.');
  assert.equal(refusal('load-balancer', 404, parent, undefined, '/v2.0/lbaas/pools/9a/members/7d6f').code, 'not-found');
});

test('says who refused what, in the words of the service, on one line', () => {
  const said = refusal('load-balancer', 400, octavia('Validation\nfailure:  x'));
  assert.equal(said.message, 'octavia (load-balancer) refused GET /things/{id}: Validation failure: x (400)');
  const page = refusal('compute', 502, html('502 Bad Gateway'));
  assert.equal(
    page.message,
    "nova (compute) refused GET /things/{id}: a page that is not the service's own: 502 Bad Gateway (502)",
  );
  const long = refusal('compute', 400, { badRequest: { code: 400, message: 'x'.repeat(9000) } }).message;
  assert.ok(long.length < 500);
  assert.match(long, /x{400}… \(400\)$/u);
});

test('the same refusal has the same words each time: no IDs of requests', () => {
  const said = refusal('load-balancer', 500, octavia(`Provider 'amphora' reports error: ${overQuota('1')}`)).message;
  assert.equal(
    said,
    "octavia (load-balancer) refused GET /things/{id}: Provider 'amphora' reports error: Quota exceeded for resources: ['port']. (500)",
  );
  const nova = (id: string): object => ({ badRequest: { code: 400, message: `Failed in ${id}, sorry` } });
  assert.match(
    refusal('compute', 400, nova('req-e452350b-268f-44b8-ac13-9a89da6de346')).message,
    /: Failed in, sorry \(/u,
  );
});

test('Retry-After: seconds, a date, nonsense; nova with it is throttled', () => {
  assert.equal(refusal('compute', 429, '', '7').retryAfterMs, 7000);
  assert.equal(refusal('compute', 503, '', new Date(NOW + 5000).toUTCString()).retryAfterMs, 5000);
  assert.equal(refusal('compute', 503, '', new Date(NOW - 5000).toUTCString()).retryAfterMs, 0);
  assert.equal(refusal('compute', 503, '', 'soon').retryAfterMs, undefined);
  const over = refusal('compute', 413, { overLimit: { code: 413, message: 'slow down' } }, '3');
  assert.deepEqual([over.code, over.retryAfterMs], ['throttled', 3000]);
});
