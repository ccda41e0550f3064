/**
 * For tests: requests that no kubelet of this machine would make, or that the cloud does not confirm. None may be approved, by the controller alone
 * nor on a real API server. One table, and so longer than 400 lines.
 */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { CloudError } from '@outrigger/cloud-provider';
import {
  alternativeNames,
  der,
  EXTENSION_REQUEST,
  machine,
  NODE_1_ADDRESSES,
  nodeOf,
  NOW,
  OWN_NAMES,
  USAGES,
  withAttributes,
  type RequestSpec,
  type ServingRig,
} from './serving-rig.suite.ts';

const O = 'system:nodes';
const CN = 'system:node:node-1';
const mapped = Buffer.from('00000000000000000000ffff0a000001', 'hex');

const ownNames = Buffer.from(alternativeNames(OWN_NAMES).rawData);
const asksFor = (extensions: Uint8Array): Buffer =>
  der(0x30, Buffer.concat([EXTENSION_REQUEST, der(0x31, der(0x30, extensions))]));
const namesOfNode2 = asksFor(Buffer.from(alternativeNames([['dns', 'node-2']]).rawData));

/** Two attributes. The second is inside of the first for who follows lengths beyond the end of what is around them; Go passes the first over. */
function swallowing(): Buffer {
  const { length } = namesOfNode2;
  const unknown = Buffer.concat([Buffer.from('06032a0304', 'hex'), Buffer.from([4, length])]);
  const inside = Buffer.concat([ownNames, Buffer.from([0x30, unknown.length + length]), unknown]);
  const extensions = Buffer.concat([Buffer.from([0x30, inside.length + length]), inside]);
  return Buffer.concat([der(0x30, Buffer.concat([EXTENSION_REQUEST, der(0x31, extensions)])), namesOfNode2]);
}

export interface ForgedRequest {
  /** Each another one. */
  readonly what: string;
  /** Default: what the kubelet of node-1 asks for. */
  readonly request?: RequestSpec;
  /** What is otherwise than that node-1 and node-2 are nodes, and run on the machines of these names. */
  readonly world?: (rig: ServingRig) => void;
  readonly verdict: 'Denied' | 'pending';
  /** What the Event says. */
  readonly told?: RegExp;
}

export const forgedRequests: readonly ForgedRequest[] = [
  // Names and addresses
  {
    what: "another node's address",
    request: {
      names: [
        ['dns', 'node-1'],
        ['ip', '10.0.0.2'],
      ],
    },
    verdict: 'Denied',
    told: /"10\.0\.0\.2", which the cloud does not give for machine "fake:\/\/node-1"/u,
  },
  {
    what: "another node's name",
    request: {
      names: [
        ['dns', 'node-2'],
        ['ip', '10.0.0.1'],
      ],
    },
    verdict: 'Denied',
  },
  { what: 'an address of nobody', request: { names: [...OWN_NAMES, ['ip', '192.0.2.7']] }, verdict: 'Denied' },
  { what: 'an IPv6 address of nobody', request: { names: [...OWN_NAMES, ['ip', 'fd00::2']] }, verdict: 'Denied' },
  {
    what: "the machine's own address as IPv4 in IPv6",
    request: { names: [['dns', 'node-1'], { tag: 0x87, bytes: mapped }] },
    verdict: 'Denied',
    told: /the address ":/u,
  },
  {
    what: "another node's address as IPv4 in IPv6",
    request: {
      names: [['dns', 'node-1'], { tag: 0x87, bytes: Buffer.from('00000000000000000000ffff0a000002', 'hex') }],
    },
    verdict: 'Denied',
  },
  {
    what: 'an address of five bytes',
    request: { names: [...OWN_NAMES, { tag: 0x87, bytes: Buffer.alloc(5) }] },
    verdict: 'Denied',
  },
  {
    what: 'an address range',
    request: { names: [...OWN_NAMES, { tag: 0x87, bytes: Buffer.from([10, 0, 0, 0, 255, 0, 0, 0]) }] },
    verdict: 'Denied',
  },
  {
    what: 'no bytes as an address',
    request: { names: [...OWN_NAMES, { tag: 0x87, bytes: Buffer.alloc(0) }] },
    verdict: 'Denied',
  },
  { what: 'loopback', request: { names: [...OWN_NAMES, ['ip', '127.0.0.1']] }, verdict: 'Denied' },
  {
    what: 'a wildcard',
    request: {
      names: [
        ['dns', '*.cloud.internal'],
        ['ip', '10.0.0.1'],
      ],
    },
    verdict: 'Denied',
    told: /the name "\*\.cloud/u,
  },
  { what: 'a wildcard alone', request: { names: [['dns', '*']] }, verdict: 'Denied' },
  { what: 'the API server', request: { names: [...OWN_NAMES, ['dns', 'kubernetes.default.svc']] }, verdict: 'Denied' },
  { what: 'a name below its own', request: { names: [['dns', 'x.node-1']] }, verdict: 'Denied' },
  { what: 'the domain of its own name', request: { names: [['dns', 'cloud.internal']] }, verdict: 'Denied' },
  {
    what: 'its own name in capitals',
    request: {
      names: [
        ['dns', 'NODE-1'],
        ['ip', '10.0.0.1'],
      ],
    },
    verdict: 'Denied',
  },
  {
    what: 'its own name with a dot behind',
    request: {
      names: [
        ['dns', 'node-1.'],
        ['ip', '10.0.0.1'],
      ],
    },
    verdict: 'Denied',
  },
  {
    what: 'its own name and a zero byte',
    request: {
      names: [
        ['dns', 'node-1\0.evil'],
        ['ip', '10.0.0.1'],
      ],
    },
    verdict: 'Denied',
  },
  { what: 'an address as a name', request: { names: [['dns', '10.0.0.1']] }, verdict: 'Denied' },
  {
    what: 'an empty name',
    request: {
      names: [
        ['dns', ''],
        ['ip', '10.0.0.1'],
      ],
    },
    verdict: 'Denied',
  },
  {
    what: 'a URI',
    request: { names: [...OWN_NAMES, ['url', 'spiffe://cluster/node-1']] },
    verdict: 'Denied',
    told: /the URI "spiffe:/u,
  },
  {
    what: 'an e-mail address',
    request: { names: [...OWN_NAMES, ['email', 'root@node-1']] },
    verdict: 'Denied',
    told: /the e-mail address "root@node-1"/u,
  },
  { what: 'another sort of name', request: { names: [...OWN_NAMES, ['id', '1.2.3.4']] }, verdict: 'Denied' },
  { what: 'a directory name', request: { names: [...OWN_NAMES, ['dn', 'CN=node-1']] }, verdict: 'Denied' },
  { what: 'a user principal name', request: { names: [...OWN_NAMES, ['upn', 'root@node-1']] }, verdict: 'Denied' },
  { what: 'no names, in an extension', request: { names: [] }, verdict: 'Denied', told: /no name and no address/u },
  { what: 'no extension', request: { names: undefined }, verdict: 'Denied', told: /no name and no address/u },
  {
    what: '200 names',
    request: { names: Array.from({ length: 200 }, (_, index) => ['dns', `n${index}`] as const) },
    verdict: 'Denied',
    told: /200 names and addresses, more than 64/u,
  },
  {
    what: '200 times its own address',
    request: { names: Array.from({ length: 200 }, () => ['ip', '10.0.0.1'] as const) },
    verdict: 'Denied',
  },
  {
    what: 'the extension twice',
    request: { extensions: [alternativeNames(OWN_NAMES), alternativeNames([['dns', 'node-2']])] },
    verdict: 'Denied',
    told: /twice/u,
  },
  {
    what: 'two requests for extensions',
    request: { names: OWN_NAMES, attributes: [new x509.ExtensionsAttribute([alternativeNames([['dns', 'node-2']])])] },
    verdict: 'Denied',
  },
  {
    what: 'a request for extensions that reaches over the next one',
    request: { spoil: (pem) => withAttributes(pem, swallowing()) },
    verdict: 'Denied',
    told: /not a certificate request \(PKCS #10\) in DER/u,
  },
  {
    what: 'an authority besides',
    request: { extensions: [alternativeNames(OWN_NAMES), new x509.BasicConstraintsExtension(true)] },
    verdict: 'Denied',
    told: /another extension than names and addresses \(2\.5\.29\.19\)/u,
  },
  {
    what: 'names with something behind them',
    request: {
      extensions: [
        new x509.Extension(
          '2.5.29.17',
          false,
          Buffer.concat([der(0x30, der(0x82, Buffer.from('node-1'))), der(4, ownNames)]),
        ),
      ],
    },
    verdict: 'Denied',
    told: /not in DER/u,
  },
  {
    what: 'a password besides',
    request: { attributes: [new x509.ChallengePasswordAttribute('secret')] },
    verdict: 'Denied',
  },
  {
    what: 'an extension that cannot be read',
    request: { extensions: [new x509.Extension('2.5.29.17', false, Buffer.from('nonsense'))] },
    verdict: 'Denied',
  },
  // Who asks, and for whom
  {
    what: "another node's subject",
    request: { subject: [{ O: [O] }, { CN: ['system:node:node-2'] }] },
    verdict: 'Denied',
    told: /its subject is/u,
  },
  { what: "another node's user, its own subject", request: { username: 'system:node:node-2' }, verdict: 'Denied' },
  {
    what: 'a common name in capitals',
    request: { subject: [{ O: [O] }, { CN: ['system:node:NODE-1'] }] },
    verdict: 'Denied',
  },
  { what: 'no common name', request: { subject: [{ O: [O] }] }, verdict: 'Denied' },
  { what: 'two common names', request: { subject: [{ O: [O] }, { CN: [CN] }, { CN: ['admin'] }] }, verdict: 'Denied' },
  {
    what: 'a common name of two lines, of which one looks like the organization',
    request: { subject: [{ CN: [`${CN}\nO=${O}`] }] },
    verdict: 'Denied',
    told: /its subject is/u,
  },
  { what: 'no organization', request: { subject: [{ CN: [CN] }] }, verdict: 'Denied' },
  {
    what: 'the wrong organization',
    request: { subject: [{ O: ['system:masters'] }, { CN: [CN] }] },
    verdict: 'Denied',
  },
  {
    what: 'one organization more',
    request: { subject: [{ O: [O] }, { O: ['system:masters'] }, { CN: [CN] }] },
    verdict: 'Denied',
  },
  {
    what: 'one organization more, in one part',
    request: { subject: [{ O: [O, 'system:masters'] }, { CN: [CN] }] },
    verdict: 'Denied',
  },
  {
    what: 'an organizational unit besides',
    request: { subject: [{ O: [O] }, { OU: ['x'] }, { CN: [CN] }] },
    verdict: 'Denied',
  },
  {
    what: 'the organization and the common name swapped',
    request: { subject: [{ O: [CN] }, { CN: [O] }] },
    verdict: 'Denied',
  },
  {
    what: 'who is not in the group of nodes',
    request: { groups: ['system:authenticated'] },
    verdict: 'Denied',
    told: /not in the group/u,
  },
  { what: 'somebody who is no node', request: { username: 'mallory' }, verdict: 'pending' },
  {
    what: 'a service account for a node',
    request: { username: 'system:serviceaccount:default:x' },
    verdict: 'pending',
  },
  { what: 'a node without a name', request: { username: 'system:node:' }, verdict: 'pending' },
  // For what
  {
    what: 'client usages',
    request: { usages: ['digital signature', 'client auth'] },
    verdict: 'Denied',
    told: /the usages "digital signature, client auth"/u,
  },
  { what: 'client usages besides', request: { usages: [...USAGES, 'client auth'] }, verdict: 'Denied' },
  { what: 'the usages of an authority', request: { usages: [...USAGES, 'cert sign'] }, verdict: 'Denied' },
  { what: 'any usage', request: { usages: ['any'] }, verdict: 'Denied' },
  { what: 'no usages', request: { usages: [] }, verdict: 'Denied' },
  // What cannot be read
  { what: 'no PEM', request: { spoil: () => 'x' }, verdict: 'Denied', told: /not one certificate request in PEM/u },
  {
    what: 'PEM of nothing',
    request: { spoil: () => '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n' },
    verdict: 'Denied',
    told: /PKCS #10/u,
  },
  {
    what: 'a certificate',
    request: { spoil: (pem) => pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE') },
    verdict: 'Denied',
  },
  { what: 'two requests', request: { spoil: (pem) => `${pem}\n${pem}` }, verdict: 'Denied' },
  {
    what: 'something before the request',
    request: { spoil: (pem) => `-----BEGIN X-----\n-----END X-----\n${pem}` },
    verdict: 'Denied',
  },
  {
    what: 'a thousand names, which would take long to parse',
    request: { names: Array.from({ length: 1_000 }, () => ['dns', 'node-1'] as const) },
    verdict: 'Denied',
    told: /longer than/u,
  },
  {
    what: 'a request of a megabyte',
    request: { spoil: (pem) => pem + ' '.repeat(1_000_000) },
    verdict: 'Denied',
    told: /longer than/u,
  },
  // What the cloud does not confirm
  {
    what: 'the node is not there',
    world: (rig) => rig.nodes.remove('node-1'),
    verdict: 'pending',
    told: /there is no node "node-1"/u,
  },
  {
    what: 'the node has no provider ID',
    world: (rig) => rig.nodes.put(nodeOf('node-1', '')),
    verdict: 'pending',
    told: /no provider ID yet/u,
  },
  {
    what: "the node has another cloud's provider ID",
    world: (rig) => rig.nodes.put(nodeOf('node-1', 'aws:///a/i-1')),
    verdict: 'pending',
    told: /of none of the program's clouds/u,
  },
  {
    what: "the node has another node's provider ID",
    world: (rig) => rig.nodes.put(nodeOf('node-1', 'fake://node-2')),
    request: { names: [['ip', '10.0.0.2']] },
    verdict: 'pending',
    told: /node "node-2" has the provider ID of the same machine/u,
  },
  {
    what: 'the node has the provider ID of a machine with another name',
    world: (rig) => {
      rig.cloud.set(
        'fake://db',
        machine('fake://db', [
          { type: 'Hostname', address: 'db' },
          { type: 'InternalIP', address: '10.0.0.9' },
        ]),
      );
      rig.nodes.put(nodeOf('node-1', 'fake://db'));
    },
    request: { names: [['ip', '10.0.0.9']] },
    verdict: 'pending',
    told: /does not say that machine "fake:\/\/db" is called as the node is \("db"\)/u,
  },
  {
    what: 'the machine has the ID that another node has',
    world: (rig) => {
      rig.nodes.put(nodeOf('node-1', 'fake://NODE-2'));
      rig.cloud.set('fake://NODE-2', machine('fake://node-2', NODE_1_ADDRESSES));
    },
    verdict: 'pending',
    told: /same machine/u,
  },
  {
    what: 'the node has another form of the ID that another node has',
    world: (rig) => {
      rig.nodes.put(nodeOf('node-1', 'fake://zone/node-2'));
      rig.cloud.set('fake://zone/node-2', machine('fake://zone/node-2', NODE_1_ADDRESSES));
    },
    verdict: 'pending',
    told: /same machine/u,
  },
  {
    what: 'the cloud does not list the machine',
    world: (rig) => rig.cloud.delete('fake://node-1'),
    verdict: 'pending',
    told: /does not show its machine/u,
  },
  {
    what: 'the cloud says that the machine is gone',
    world: (rig) => rig.cloud.set('fake://node-1', { kind: 'absent', proof: '404' }),
    verdict: 'pending',
  },
  {
    what: 'the cloud fails',
    world: (rig) =>
      rig.cloud.set('fake://node-1', { kind: 'failed', error: new CloudError('unavailable', 'no answer') }),
    verdict: 'pending',
    told: /no answer, unavailable/u,
  },
  {
    what: 'the cloud answers with what it knew before',
    world: (rig) => (rig.staleMs = 1),
    verdict: 'pending',
    told: /the read of its machine failed/u,
  },
  {
    what: 'the machine is shut down',
    world: (rig) =>
      rig.cloud.set('fake://node-1', {
        kind: 'found',
        instance: { providerID: 'fake://node-1', state: 'shutdown', addresses: NODE_1_ADDRESSES },
      }),
    verdict: 'pending',
    told: /shut down/u,
  },
  {
    what: 'the cloud gives no addresses',
    world: (rig) => rig.cloud.set('fake://node-1', machine('fake://node-1', undefined)),
    verdict: 'pending',
    told: /it gives no name/u,
  },
  {
    what: 'the cloud gives no IP address',
    world: (rig) => rig.cloud.set('fake://node-1', machine('fake://node-1', [{ type: 'Hostname', address: 'node-1' }])),
    verdict: 'pending',
    told: /gives no address/u,
  },
  {
    what: 'it was made two hours ago',
    request: { creationTimestamp: new Date(NOW - 7_200_000).toISOString() },
    verdict: 'pending',
  },
];
