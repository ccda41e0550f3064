/**
 * The registries of the upstream providers' own tables of tests: kubernetes/cloud-provider-aws (`TestRegistryPatternMatch`,
 * `Test_parseRegionFromECRPrivateHost`), kubernetes-sigs/cloud-provider-azure (`TestParseACRLoginServerFromImage`) and
 * kubernetes/cloud-provider-gcp (`containerRegistryUrls`). Where the answer here is another one, it says why.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACR_REGISTRIES } from './acr/acr-registries.ts';
import { ECR_REGISTRIES, ecrRegistry } from './ecr/ecr-registry.ts';
import { GCR_REGISTRIES } from './gcr/gcr-registries.ts';
import { matches, parseImage, parsePattern } from './image-registry.ts';

/** The registry of the image, where it is on the list. */
function allowed(image: string, registries: readonly string[]): string | undefined {
  try {
    const name = parseImage(image);
    return registries.some((one) => matches(parsePattern(one), name)) ? name.registry : undefined;
  } catch {
    return undefined;
  }
}

test('what cloud-provider-aws takes for a registry of ECR, and what it does not', () => {
  const cases: readonly (readonly [string, boolean])[] = [
    ['123456789012.dkr.ecr.lala-land-1.amazonaws.com', true],
    ['123456789012.dkr.ecr-fips.lala-land-1.amazonaws.com', true],
    ['123456789012.dkr.ecr.lala-land-1.amazonaws.com.cn', true],
    ['1234567890123.dkr.ecr.lala-land-1.amazonaws.com', false],
    ['12345678901.dkr.ecr.lala-land-1.amazonaws.com', false],
    ['12345678901A.dkr.ecr.lala-land-1.amazonaws.com', false],
    ['123456789012.dkr.ecr.lala-land-1!.amazonaws.com', false],
    ['123456789012.dkr.ecr.#lala-land-1.amazonaws.com', false],
    ['123456789012.dkr.ecr.lala-land-1.amazonaws.hacker.com', false],
    ['123456789012.dkr.ecr.lala-land-1.hacker.com', false],
    ['123456789012.dkr.ecr.lala-land-1.amazonaws.lol', false],
    ['123456789012.dog.ecr.lala-land-1.amazonaws.com', false],
    ['123456789012.dkr.cat.lala-land-1.amazonaws.com', false],
    ['123456789012.dkr.cat.lala-land-1.awsamazon.com', false],
    ['123456789012.lala-land-1.amazonaws.com', false],
    ['123456789012.dkr.ecr.us-iso-east-1.c2s.ic.gov', true],
    ['123456789012.dkr.ecr.us-isob-east-1.sc2s.sgov.gov', true],
    ['123456789012.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk', true],
    ['123456789012.dkr.ecr.us-isof-east-1.csp.hci.ic.gov', true],
    ['123456789012.dkr.ecr.us-iso-east-1.amazonaws.gov', false],
    ['123456789012.dkr-ecr.lala-land-1.on.aws', true],
    ['123456789012.dkr-ecr-fips.lala-land-1.on.aws', true],
    ['123456789012.dkr-ecr.lala-land-1.on.amazonwebservices.com.cn', true],
  ];
  for (const [host, expected] of cases) {
    const isTaken = allowed(`${host}/app`, ECR_REGISTRIES) === host && ecrRegistry(host) !== undefined;
    assert.equal(isTaken, expected, host);
  }
  // Part of a path is no host.
  const image = '123456789123.dkr.ecr.us-west-2.amazonaws.com/public.ecr.aws/foo:latest';
  assert.equal(allowed(image, ECR_REGISTRIES), '123456789123.dkr.ecr.us-west-2.amazonaws.com');
});

test('the region that cloud-provider-aws reads in the name of a registry', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['123456789123.dkr.ecr.us-west-2.amazonaws.com', 'us-west-2'],
    ['123456789123.dkr.ecr.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    ['123456789123.dkr.ecr.us-gov-east-1.amazonaws.com', 'us-gov-east-1'],
    ['123456789123.dkr.ecr.us-iso-east-1.c2s.ic.gov', 'us-iso-east-1'],
    ['123456789123.dkr-ecr.us-west-2.on.aws', 'us-west-2'],
    ['123456789123.dkr-ecr-fips.us-west-2.on.aws', 'us-west-2'],
    ['123456789123.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn', 'cn-north-1'],
    ['123456789123.dkr-ecr.us-gov-east-1.on.aws', 'us-gov-east-1'],
    ['123456789123.dkr-ecr-fips.us-gov-east-1.on.aws', 'us-gov-east-1'],
    ['foobar', undefined],
  ];
  for (const [host, region] of cases) assert.equal(ecrRegistry(host)?.region, region, host);
});

test('what cloud-provider-azure takes for a registry of ACR, and what it does not', () => {
  // Its own cloud there comes from a file of the environment, here from the configuration.
  const registries = [...ACR_REGISTRIES, '*.azurecr.my.cloud'];
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['invalidImage', undefined],
    ['docker.io/library/busybox:latest', undefined],
    ['foo.azurecr.io/bar/image:version', 'foo.azurecr.io'],
    ['foo.azurecr.cn/bar/image:version', 'foo.azurecr.cn'],
    ['foo.azurecr.us/bar/image:version', 'foo.azurecr.us'],
    ['foo.azurecr.my.cloud/bar/image:version', 'foo.azurecr.my.cloud'],
    ['foo.azurecr.us/foo.azurecr.io/bar/image:version', 'foo.azurecr.us'],
    ['foo.azurecr.io.example/bar/image:version', undefined],
    ['docker/foo.azurecr.io/bar/image:version', undefined],
    ['foo.azurecr.io.azurecr.cn', undefined],
    ['foo.azurecr.io.azurecr.cn/bar', undefined],
    // There a registry. Azure Germany was closed in 2021: whoever needs the name puts it on the list.
    ['foo.azurecr.de/bar/image:version', undefined],
    // There a registry: a kubelet always names a repository, and this one would be docker.io/library/foo.azurecr.io.
    ['foo.azurecr.io', undefined],
    ['foo-azurecr-io.azurecr.cn', undefined],
    // There none, as names of registries have no hyphen. It is a name of Azure's all the same.
    ['foo-azurecr-io.azurecr.cn/bar', 'foo-azurecr-io.azurecr.cn'],
  ];
  for (const [image, expected] of cases) assert.equal(allowed(image, registries), expected, image);
});

test('the registries that cloud-provider-gcp knows, and no host that only an image names', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['container.cloud.google.com/pause', 'container.cloud.google.com'],
    ['gcr.io/project/app', 'gcr.io'],
    ['k8s.gcr.io/pause', 'k8s.gcr.io'],
    ['us-central1-docker.pkg.dev/my-project/my-repo/my-image:latest', 'us-central1-docker.pkg.dev'],
    // There credentials are given for whatever host the image names.
    ['hello.kubernetes.io/app', undefined],
  ];
  for (const [image, expected] of cases) assert.equal(allowed(image, GCR_REGISTRIES), expected, image);
});
