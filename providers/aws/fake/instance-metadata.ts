/** The metadata that an instance reads of itself, version 2: by a token (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-categories.html). */
import type { FakeAnswer, IncomingFakeRequest } from '@outrigger/provider-kit/fake';
import type { AwsAccount } from './aws-account.ts';
import { privateDomainOf } from './ec2/interface-view.ts';
import type { Instance, NetworkInterface } from './things.ts';

const LONGEST_TOKEN_S = 21_600;
const ROLE = 'fake-node-role';
const HOUR_MS = 3_600_000;

export class InstanceMetadata {
  /** Whose metadata is answered. Default: the first instance's. */
  instanceId: string | undefined;
  /** False: there is no such service, and connections are closed. */
  isServed = true;
  readonly #account: AwsAccount;
  /** By token: until when, by the monotonic clock. */
  readonly #tokens = new Map<string, number>();
  #session: ReturnType<AwsAccount['newSession']> | undefined;

  constructor(account: AwsAccount) {
    this.#account = account;
  }

  /** `undefined`: the connection is to be closed. */
  answer({ headers, method, path }: IncomingFakeRequest): FakeAnswer | undefined {
    const instance = this.#instance();
    if (!instance) return undefined;
    if (path === '/latest/api/token') {
      const seconds = Number(headers['x-aws-ec2-metadata-token-ttl-seconds']);
      if (method !== 'PUT') return plain(405, '');
      if (!(seconds >= 1 && seconds <= LONGEST_TOKEN_S)) return plain(400, '');
      const token = this.#account.newHex('metadata-token', 40);
      this.#tokens.set(token, this.#account.clock.monotonic() + seconds * 1_000);
      return { ...plain(200, token), headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(seconds) } };
    }
    const until = this.#tokens.get(headers['x-aws-ec2-metadata-token'] ?? '');
    if (until === undefined || until <= this.#account.clock.monotonic()) return plain(401, '');
    if (path === `/latest/meta-data/iam/security-credentials/${ROLE}`) return plain(200, this.#credentials());
    const found = this.#categories(instance)[path.replace(/^\/latest\//u, '').replace(/\/$/u, '')];
    return found === undefined ? plain(404, '') : plain(200, found);
  }

  #instance(): Instance | undefined {
    const { instances } = this.#account;
    if (!this.isServed) return undefined;
    return this.instanceId === undefined ? instances.all()[0] : instances.get(this.instanceId);
  }

  /** The same ones until an hour before their end, as instances have them. */
  #credentials(): string {
    const { clock } = this.#account;
    if (!this.#session || this.#session.expiresAt - HOUR_MS <= clock.now())
      this.#session = this.#account.newSession(6 * HOUR_MS);
    const { accessKey, expiresAt, secret, token } = this.#session;
    return JSON.stringify({
      Code: 'Success',
      Type: 'AWS-HMAC',
      AccessKeyId: accessKey,
      SecretAccessKey: secret,
      Token: token,
      LastUpdated: new Date(expiresAt - 6 * HOUR_MS).toISOString(),
      Expiration: new Date(expiresAt).toISOString(),
    });
  }

  #categories({ id, privateDnsName, subnetId, type }: Instance): Readonly<Record<string, string | undefined>> {
    const account = this.#account;
    const interfaces = account.interfaces.all().filter(({ attachment }) => attachment?.instanceId === id);
    const [primary] = interfaces;
    const zone = account.subnets.get(subnetId)?.zone ?? '';
    const ip = primary?.privateIps[0] ?? '';
    return {
      'meta-data/instance-id': id,
      'meta-data/instance-type': type,
      'meta-data/hostname': privateDnsName,
      'meta-data/local-hostname': privateDnsName,
      'meta-data/local-ipv4': ip,
      'meta-data/public-ipv4': primary?.publicIp,
      'meta-data/ipv6': primary?.ipv6[0],
      'meta-data/mac': primary && macOf(primary),
      'meta-data/placement/availability-zone': zone,
      'meta-data/placement/availability-zone-id': account.zoneId(zone),
      'meta-data/placement/region': account.region,
      'meta-data/services/domain': 'amazonaws.com',
      'meta-data/services/partition': 'aws',
      'meta-data/network/interfaces/macs': interfaces.map((one) => `${macOf(one)}/`).join('\n'),
      ...Object.assign({}, ...interfaces.map((one) => interfaceCategories(account, one))),
      'meta-data/iam/security-credentials': ROLE,
      'dynamic/instance-identity/document': JSON.stringify({
        accountId: account.accountId,
        availabilityZone: zone,
        instanceId: id,
        instanceType: type,
        privateIp: ip,
        region: account.region,
        version: '2017-09-30',
      }),
    };
  }
}

function interfaceCategories(account: AwsAccount, one: NetworkInterface): Readonly<Record<string, string>> {
  const subnet = account.subnets.get(one.subnetId);
  const vpc = account.vpcs.get(subnet?.vpcId ?? '');
  const at = `meta-data/network/interfaces/macs/${macOf(one)}`;
  return {
    [`${at}/device-number`]: String(one.attachment?.deviceIndex ?? 0),
    [`${at}/interface-id`]: one.id,
    [`${at}/ipv6s`]: one.ipv6.join('\n'),
    [`${at}/local-hostname`]: `ip-${(one.privateIps[0] ?? '').replaceAll('.', '-')}.${privateDomainOf(account.region)}`,
    [`${at}/local-ipv4s`]: one.privateIps.join('\n'),
    [`${at}/owner-id`]: account.accountId,
    [`${at}/security-group-ids`]: one.groupIds.join('\n'),
    [`${at}/subnet-id`]: one.subnetId,
    [`${at}/subnet-ipv4-cidr-block`]: subnet?.cidr ?? '',
    [`${at}/vpc-id`]: subnet?.vpcId ?? '',
    [`${at}/vpc-ipv4-cidr-blocks`]: vpc?.cidr ?? '',
  };
}

function macOf({ id }: NetworkInterface): string {
  const hex = id.slice('eni-'.length, 'eni-'.length + 10);
  return ['02', ...(hex.match(/../gu) ?? [])].join(':');
}

function plain(status: number, text: string): FakeAnswer {
  return { status, headers: { 'content-type': 'text/plain' }, text };
}
