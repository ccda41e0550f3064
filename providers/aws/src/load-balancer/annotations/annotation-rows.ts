/**
 * Every annotation of a Service that cloud-provider-aws reads (its `pkg/providers/v1/aws.go`), and what becomes of it here. The contract's
 * list, the check of values and the page `docs/annotations.md` are made from this table.
 */
import { ANNOTATION_LENGTH } from '@outrigger/cloud-provider';
import {
  annotationTable,
  type AnnotationRow,
  type AnnotationTable,
  type AnnotationValues,
} from '@outrigger/provider-kit';

export const ANNOTATION_PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';

/** As Go's `ParseBool` reads it, which is what reads it upstream. */
const TRUE = ['true', 'True', 'TRUE', 't', 'T', '1'];
const FALSE = ['false', 'False', 'FALSE', 'f', 'F', '0'];

/** Of a value that `flag` has let through. */
export const isTrue = (text: string | undefined): boolean => text !== undefined && TRUE.includes(text);

type Count = `${'draining' | 'idle' | 'health'}Timeout` | 'healthInterval' | `${'healthy' | 'unhealthy'}Threshold`;
type Text =
  | 'type'
  | 'internal'
  | 'subnets'
  | 'eipAllocations'
  | 'privateAddresses'
  | 'tags'
  | 'nodeLabels'
  | 'securityGroups'
  | 'extraSecurityGroups'
  | 'certificate'
  | `tls${'Ports' | 'Policy'}`
  | 'backendProtocol'
  | 'crossZone'
  | `accessLog${'' | 'Bucket' | 'Prefix' | 'Interval'}`
  | 'draining'
  | 'proxyProtocol'
  | 'targetGroupAttributes'
  | `health${'Protocol' | 'Port' | 'Path'}`;
type TextRow = AnnotationRow & { readonly values: 'string' };
type Rows = Readonly<Record<Text, TextRow> & Record<Count, AnnotationRow & { readonly values: 'integer' }>>;

export type AnnotationKey = Text | Count;
/** What has been set and checked; what is not set is `undefined`. */
export type Annotations = AnnotationValues<Rows>;

const flag: Pick<TextRow, 'values' | 'form'> = {
  values: 'string',
  form: { name: '`true` or `false`', test: (text) => TRUE.includes(text) || FALSE.includes(text) },
};

function list(most: number, name: string, pattern: RegExp): Pick<TextRow, 'values' | 'form' | 'maxLength'> {
  const test = (text: string): boolean => {
    const items = itemsOf(text);
    return items.length > 0 && items.length <= most && items.every((item) => pattern.test(item));
  };
  return {
    values: 'string',
    maxLength: ANNOTATION_LENGTH,
    form: {
      name: `a list of at most ${most} ${name}, with commas between`,
      test,
      isTooLarge: (text) => itemsOf(text).length > most,
    },
  };
}

/** Of a list with commas, the empty ones left out. */
export const itemsOf = (text: string | undefined): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function word(...words: readonly string[]): Pick<TextRow, 'values' | 'form'> {
  const test = (text: string): boolean => words.includes(text.toLowerCase());
  return { values: 'string', form: { name: `one of ${words.map((one) => `\`${one}\``).join(', ')}`, test } };
}

/** The last three are usual for what is the default. Upstream tells the case apart, and so a taken-over Service keeps what it has. */
const TYPES = ['nlb', 'nlb-ip', 'external', 'classic', 'clb', 'elb'];
const ANY = /^/u;
const GROUP = /^sg-[0-9a-f]{8,17}$/u;
const LABEL = /^[^=\s]{1,317}(?:=[^=\s]{0,63})?$/u;
const BUCKET = 'sends the logs of its clients to a bucket of others';

/** By the ends of their names. */
const rows: Rows = {
  type: {
    name: 'type',
    values: 'string',
    form: { name: '`nlb`, `nlb-ip` or `external`', test: (text) => TYPES.includes(text) },
    orDefault: true,
    meaning:
      '`nlb`: a Network Load Balancer. `external`, `nlb-ip`: one of the AWS Load Balancer Controller, left to it. Default: a Classic Load Balancer.',
  },
  internal: {
    name: 'internal',
    values: 'string',
    meaning: 'Internal with any value but `false`, as upstream (`0.0.0.0/0` was usual once). Default: public.',
  },
  subnets: {
    name: 'subnets',
    ...list(16, 'subnets (IDs, or values of their tag `Name`)', ANY),
    meaning: 'Its subnets, one of a zone. Default: found by their tags.',
    dangerous: 'puts a load balancer into a subnet that is meant for others',
  },
  eipAllocations: {
    name: 'eip-allocations',
    ...list(16, 'allocation IDs', /^eipalloc-[0-9a-f]{8,17}$/u),
    meaning: 'Elastic IPs of a public NLB, one for each subnet, in their order. Default: addresses of AWS.',
    dangerous: 'takes addresses of others',
  },
  privateAddresses: {
    name: 'private-ipv4-addresses',
    ...list(16, 'IPv4 addresses', /^\d{1,3}(?:\.\d{1,3}){3}$/u),
    meaning: 'Addresses of an internal NLB, one for each subnet, in their order. Default: chosen by AWS.',
    dangerous: 'takes addresses that are meant for others',
  },
  tags: {
    name: 'additional-resource-tags',
    values: 'string',
    maxLength: ANNOTATION_LENGTH,
    meaning: 'Tags for what is created, `key=value,key`; at most 40. Default: none.',
    dangerous: 'opens ports of whatever gets its security groups by their tags',
  },
  nodeLabels: {
    name: 'target-node-labels',
    ...list(32, 'labels `key=value`, or `key` for any value', LABEL),
    meaning: 'Only nodes with all these labels are targets. Default: all nodes.',
  },
  securityGroups: {
    name: 'security-groups',
    ...list(4, 'security groups', GROUP),
    meaning: 'These in place of a security group of its own; nothing in them is changed. Default: one of its own.',
    dangerous: 'joins a security group of others, and with it is let in where that one is',
  },
  extraSecurityGroups: {
    name: 'extra-security-groups',
    ...list(3, 'security groups', GROUP),
    meaning: 'These beside its own. Default: none.',
    dangerous: 'joins a security group of others, and with it is let in where that one is',
  },
  certificate: {
    name: 'ssl-cert',
    values: 'string',
    maxLength: 2_048,
    form: {
      name: 'the ARN of a certificate of ACM or IAM',
      test: (text) => /^arn:[a-z-]+:(?:acm|iam):[a-z0-9-]*:\d{12}:(?:server-)?certificate\/\S+$/u.test(text),
    },
    meaning: 'TLS ends at the load balancer, with this certificate. Default: no TLS.',
    dangerous: 'serves with the certificate of others',
  },
  tlsPorts: {
    name: 'ssl-ports',
    ...list(100, 'ports (numbers or names), or `*`', /^(?:\*|[a-z0-9-]{1,15})$/iu),
    meaning: 'Which ports have TLS, with `ssl-cert`. Default: `*`, all.',
  },
  tlsPolicy: {
    name: 'ssl-negotiation-policy',
    values: 'string',
    form: { name: 'the name of a security policy of AWS', test: (text) => /^[A-Za-z0-9-]{1,100}$/u.test(text) },
    meaning: 'Protocols and ciphers of TLS: `ELBSecurityPolicy-TLS13-1-2-2021-06`. Default: that of AWS.',
  },
  backendProtocol: {
    name: 'backend-protocol',
    values: 'string',
    form: { name: '`http`, `https`, `ssl` or `tcp`', test: (text) => ['http', 'https', 'ssl', 'tcp'].includes(text) },
    orDefault: true,
    meaning: 'What the nodes speak. An NLB knows `ssl` alone, with `ssl-cert`: TLS to them too. Default: `tcp`.',
  },
  crossZone: {
    name: 'cross-zone-load-balancing-enabled',
    ...flag,
    meaning: 'Nodes of all zones get traffic from each. Default: `false`.',
  },
  accessLog: {
    name: 'access-log-enabled',
    ...flag,
    meaning: 'Access logs, of an NLB those of TLS listeners. Default: `false`.',
  },
  accessLogBucket: {
    name: 'access-log-s3-bucket-name',
    values: 'string',
    form: { name: 'the name of a bucket', test: (text) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/u.test(text) },
    meaning: 'Bucket of S3 for them.',
    dangerous: BUCKET,
  },
  accessLogPrefix: {
    name: 'access-log-s3-bucket-prefix',
    values: 'string',
    meaning: 'Their prefix in the bucket. Default: none.',
    dangerous: BUCKET,
  },
  accessLogInterval: {
    name: 'access-log-emit-interval',
    ...word('5', '60'),
    meaning: 'Minutes between two logs, 5 or 60. Default: 60.',
  },
  draining: {
    name: 'connection-draining-enabled',
    ...flag,
    meaning: 'Connections to a node that leaves may end. Default: `false`.',
  },
  drainingTimeout: {
    name: 'connection-draining-timeout',
    values: 'integer',
    range: [1, 3_600],
    meaning: 'For so many seconds. Default: 300.',
  },
  idleTimeout: {
    name: 'connection-idle-timeout',
    values: 'integer',
    range: [1, 4_000],
    meaning: 'Seconds without data until a connection is closed. Default: 60.',
  },
  proxyProtocol: {
    name: 'proxy-protocol',
    values: 'string',
    form: { name: '`*`', test: (text) => text === '*' },
    meaning: '`*`: PROXY protocol to all ports of the nodes. Default: none.',
  },
  targetGroupAttributes: {
    name: 'target-group-attributes',
    values: 'string',
    maxLength: 1_024,
    meaning: 'Attributes of its target groups: `preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true`.',
  },
  healthProtocol: {
    name: 'healthcheck-protocol',
    ...word('tcp', 'http', 'https', 'ssl'),
    meaning:
      'Of the health check; `ssl` of a Classic Load Balancer alone. Default: `tcp`; `http` with `externalTrafficPolicy: Local`.',
  },
  healthPort: {
    name: 'healthcheck-port',
    values: 'string',
    form: {
      name: '`traffic-port` or a port',
      test: (text) =>
        text === 'traffic-port' || (/^\d{1,5}$/u.test(text) && Number(text) >= 1 && Number(text) <= 65_535),
    },
    meaning: 'Its port. Default: `traffic-port`; `spec.healthCheckNodePort` with `externalTrafficPolicy: Local`.',
  },
  healthPath: {
    name: 'healthcheck-path',
    values: 'string',
    maxLength: 1_024,
    form: { name: 'a path', test: (text) => /^\/\S*$/u.test(text) },
    meaning: 'Its path, of `http` and `https`. Default: `/`, `/healthz` with `externalTrafficPolicy: Local`.',
  },
  healthyThreshold: {
    name: 'healthcheck-healthy-threshold',
    values: 'integer',
    range: [2, 10],
    meaning: 'Successes until a node is healthy. Default: 2; of an NLB 3, 2 with `externalTrafficPolicy: Local`.',
  },
  unhealthyThreshold: {
    name: 'healthcheck-unhealthy-threshold',
    values: 'integer',
    range: [2, 10],
    meaning: 'Failures until it is not. Default: 6; of an NLB 3, 2 with `externalTrafficPolicy: Local`.',
  },
  healthTimeout: {
    name: 'healthcheck-timeout',
    values: 'integer',
    range: [2, 120],
    meaning:
      'Seconds until a check has failed, of a Classic Load Balancer at most 60. Default: 5; of an NLB that of AWS.',
  },
  healthInterval: {
    name: 'healthcheck-interval',
    values: 'integer',
    range: [5, 300],
    meaning: 'Seconds between two checks. Default: 10; of an NLB 30, 10 with `externalTrafficPolicy: Local`.',
  },
};

export const annotationRows: Rows = Object.fromEntries(
  Object.entries(rows).map(([key, row]) => [key, { ...row, name: ANNOTATION_PREFIX + row.name }]),
) as unknown as Rows;

export const annotations: AnnotationTable<Rows> = annotationTable(annotationRows);
