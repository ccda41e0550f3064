import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, parseImage, parsePattern } from '../image-registry.ts';
import { ECR_REGISTRIES, ecrRegistry } from './ecr-registry.ts';

/** Host, region, API, STS: partitions as AWS and its credential provider for the kubelet list them. */
const VECTORS: readonly (readonly [string, string, string, string])[] = [
  ['dkr.ecr.us-west-2.amazonaws.com', 'us-west-2', 'api.ecr.us-west-2.amazonaws.com', 'sts.us-west-2.amazonaws.com'],
  [
    'dkr.ecr-fips.us-east-1.amazonaws.com',
    'us-east-1',
    'ecr-fips.us-east-1.amazonaws.com',
    'sts-fips.us-east-1.amazonaws.com',
  ],
  [
    'dkr.ecr-fips.us-gov-west-1.amazonaws.com',
    'us-gov-west-1',
    'ecr-fips.us-gov-west-1.amazonaws.com',
    'sts.us-gov-west-1.amazonaws.com',
  ],
  [
    'dkr.ecr.cn-north-1.amazonaws.com.cn',
    'cn-north-1',
    'api.ecr.cn-north-1.amazonaws.com.cn',
    'sts.cn-north-1.amazonaws.com.cn',
  ],
  ['dkr-ecr.us-west-2.on.aws', 'us-west-2', 'ecr.us-west-2.api.aws', 'sts.us-west-2.amazonaws.com'],
  ['dkr-ecr-fips.us-west-2.on.aws', 'us-west-2', 'ecr-fips.us-west-2.api.aws', 'sts-fips.us-west-2.amazonaws.com'],
  [
    'dkr-ecr.cn-north-1.on.amazonwebservices.com.cn',
    'cn-north-1',
    'ecr.cn-north-1.api.amazonwebservices.com.cn',
    'sts.cn-north-1.amazonaws.com.cn',
  ],
  [
    'dkr.ecr.eusc-de-east-1.amazonaws.eu',
    'eusc-de-east-1',
    'api.ecr.eusc-de-east-1.amazonaws.eu',
    'sts.eusc-de-east-1.amazonaws.eu',
  ],
  [
    'dkr.ecr.us-iso-east-1.c2s.ic.gov',
    'us-iso-east-1',
    'api.ecr.us-iso-east-1.c2s.ic.gov',
    'sts.us-iso-east-1.c2s.ic.gov',
  ],
  [
    'dkr.ecr.us-isob-east-1.sc2s.sgov.gov',
    'us-isob-east-1',
    'api.ecr.us-isob-east-1.sc2s.sgov.gov',
    'sts.us-isob-east-1.sc2s.sgov.gov',
  ],
  [
    'dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk',
    'eu-isoe-west-1',
    'api.ecr.eu-isoe-west-1.cloud.adc-e.uk',
    'sts.eu-isoe-west-1.cloud.adc-e.uk',
  ],
  [
    'dkr.ecr.us-isof-south-1.csp.hci.ic.gov',
    'us-isof-south-1',
    'api.ecr.us-isof-south-1.csp.hci.ic.gov',
    'sts.us-isof-south-1.csp.hci.ic.gov',
  ],
];

test('account, region and endpoints of each partition, by the name of the registry', () => {
  for (const [host, region, api, sts] of VECTORS) {
    assert.deepEqual(ecrRegistry(`123456789012.${host}`), {
      account: '123456789012',
      region,
      apiUrl: `https://${api}`,
      stsUrl: `https://${sts}`,
    });
    const allowed = ECR_REGISTRIES.some((one) => matches(parsePattern(one), parseImage(`123456789012.${host}/app`)));
    assert.ok(allowed, `${host} is in the default allow-list`);
  }
  assert.equal(ecrRegistry('public.ecr.aws')?.region, 'us-east-1');
});

test('what only looks like ECR is not', () => {
  const others = [
    '12345678901.dkr.ecr.us-west-2.amazonaws.com',
    '1234567890123.dkr.ecr.us-west-2.amazonaws.com',
    'a.dkr.ecr.us-west-2.amazonaws.com',
    '123456789012.dkr.ecr.us-west-2.amazonaws.com.evil.example',
    '123456789012.dkr.ecr.us-west-2.evil.example',
    '123456789012.dkr.ecr..amazonaws.com',
    '123456789012.dkr.ecr.us.west.amazonaws.com',
    '123456789012.dkr.ecr.s3.amazonaws.com',
    '123456789012.dkr.ecr-fips.s3-us-west-2.amazonaws.com',
    'public.ecr.aws.evil.example',
    '123456789012.dkr.ecr.us-west-2.amazonaws.com:8443',
  ];
  for (const host of others) assert.equal(ecrRegistry(host), undefined, host);
});
