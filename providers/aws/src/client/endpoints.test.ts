import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { endpointOf, type EndpointOverride } from './endpoints.ts';
import { ec2 } from './generated/ec2-api.ts';
import { elb } from './generated/elb-api.ts';
import { elbv2 } from './generated/elbv2-api.ts';

const REGION = 'eu-central-1';
const OWN = 'https://ec2.eu-central-1.amazonaws.com';

function ofEc2(overrides: readonly EndpointOverride[], env: Readonly<Record<string, string>> = {}): string {
  return endpointOf(ec2, REGION, { overrides, env }).url;
}

test('a [ServiceOverride] counts for its service in its region, by the name of the SDK and by the older one', () => {
  const url = 'http://127.0.0.1:5000/';
  assert.equal(ofEc2([{ service: 'EC2', region: REGION, url }]), 'http://127.0.0.1:5000');
  assert.equal(ofEc2([{ service: 'ec2', url }]), 'http://127.0.0.1:5000');
  assert.equal(ofEc2([{ service: 'EC2', region: 'us-east-1', url }]), OWN);
  assert.equal(ofEc2([{ service: 'Elastic Load Balancing', url }]), OWN);
  const hits = (service: string): readonly boolean[] =>
    [elb, elbv2].map((api) =>
      endpointOf(api, REGION, { overrides: [{ service, url }], env: {} }).url.startsWith('http:'),
    );
  assert.deepEqual(hits('Elastic Load Balancing'), [true, false]);
  assert.deepEqual(hits('elastic load balancing v2'), [false, true]);
  assert.deepEqual(hits('elasticloadbalancing'), [true, true]);
});

test('requests to another end point are signed as its section says, else as usual', () => {
  const url = 'https://vpce-1.example';
  const signed = (more: Partial<EndpointOverride>): readonly string[] => {
    const { signingName, signingRegion } = endpointOf(elb, REGION, {
      overrides: [{ service: 'elasticloadbalancing', url, ...more }],
      env: {},
    });
    return [signingName, signingRegion];
  };
  assert.deepEqual(signed({}), ['elasticloadbalancing', REGION]);
  assert.deepEqual(signed({ signingName: 'elb', signingRegion: 'us-east-1' }), ['elb', 'us-east-1']);
});

test('AWS_ENDPOINT_URL is for all services, one with a name for its own, and the cloud config precedes both', () => {
  const all = { AWS_ENDPOINT_URL: 'http://all:1' };
  const named = {
    ...all,
    AWS_ENDPOINT_URL_EC2: 'http://ec2:2',
    AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2: 'http://v2:3',
  };
  assert.deepEqual([ofEc2([], all), ofEc2([], named)], ['http://all:1', 'http://ec2:2']);
  assert.equal(endpointOf(elbv2, REGION, { env: named }).url, 'http://v2:3');
  assert.equal(endpointOf(elb, REGION, { env: named }).url, 'http://all:1');
  assert.equal(ofEc2([{ service: 'EC2', url: 'http://config:4' }], named), 'http://config:4');
  assert.equal(ofEc2([], { ...named, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }), OWN);
  assert.equal(ofEc2([], { AWS_ENDPOINT_URL: '' }), OWN);
});

test('a URL that is none is told with the service', () => {
  for (const url of ['127.0.0.1:5000', 'ftp://host', 'https://'])
    assert.throws(
      () => ofEc2([], { AWS_ENDPOINT_URL: url }),
      (error) => isCloudError(error, 'configuration') && /service EC2/u.test(error.message),
      url,
    );
});
