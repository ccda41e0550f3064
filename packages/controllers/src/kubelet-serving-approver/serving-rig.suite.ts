/** For tests: requests as kubelets make them and as they do not, nodes, and the cloud in which their machines are. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { Instance, InstanceResult, NodeAddress, NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, ReadOptions } from '@outrigger/cloud-runtime';
import {
  noMetrics,
  silentLogger,
  StatusError,
  type CertificateSigningRequest,
  type KubeObject,
  type Node,
  type Patch,
  type ResourceClient,
  type Store,
} from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { Journal } from '../journal.ts';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import { createKubeletServingApprover, type KubeletServingApprover } from './kubelet-serving-approver.ts';
import type { ServingOptions } from './plan.ts';
import { SERVING_SIGNER } from './serving-signer.ts';
import { trimServingRequest } from './trim-request.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const KEYS = crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';

export const NODE_1_ADDRESSES: readonly NodeAddress[] = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'InternalIP', address: 'fd00::1' },
  { type: 'ExternalIP', address: '203.0.113.1' },
  { type: 'Hostname', address: 'node-1' },
  { type: 'InternalDNS', address: 'node-1.cloud.internal' },
];

/** A name in a request: type and text, or the bytes after the tag, of a sort that the library does not make. */
export type AskedName = readonly [x509.GeneralNameType, string] | { readonly tag: number; readonly bytes: Uint8Array };

export interface RequestSpec {
  readonly node?: string;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly usages?: readonly string[];
  readonly subject?: x509.JsonName;
  /** `undefined`: the request has no extension at all. */
  readonly names?: readonly AskedName[] | undefined;
  readonly extensions?: readonly x509.Extension[];
  readonly attributes?: readonly x509.Attribute[];
  /** The PEM, as it is put into the object. */
  readonly spoil?: (pem: string) => string;
  readonly status?: CertificateSigningRequest['status'];
  readonly creationTimestamp?: string;
}

export const OWN_NAMES: readonly AskedName[] = [
  ['dns', 'node-1'],
  ['ip', '10.0.0.1'],
];
export const USAGES = ['digital signature', 'server auth'] as const;

/** By default what the kubelet of `node-1` asks for. */
export async function requestOf(name: string, spec: RequestSpec = {}): Promise<CertificateSigningRequest> {
  const { attributes = [], extensions, groups, node = 'node-1', spoil = (pem) => pem, subject, usages = USAGES } = spec;
  const { username = `system:node:${node}` } = spec;
  const names = 'names' in spec ? spec.names : OWN_NAMES;
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject ?? [{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }],
    keys: await KEYS,
    signingAlgorithm: ALGORITHM,
    extensions: [...(extensions ?? (names ? [alternativeNames(names)] : []))],
    attributes: [...attributes],
  });
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, uid: `uid-${name}`, creationTimestamp: spec.creationTimestamp ?? new Date(NOW).toISOString() },
    spec: {
      signerName: SERVING_SIGNER,
      username,
      groups: [...(groups ?? ['system:nodes', 'system:authenticated'])],
      usages: [...usages] as NonNullable<CertificateSigningRequest['spec']['usages']>,
      request: Buffer.from(spoil(request.toString('pem'))).toString('base64'),
    },
    ...(spec.status && { status: spec.status }),
  };
}

export function alternativeNames(names: readonly AskedName[]): x509.Extension {
  const items = names.map((one) => {
    if ('tag' in one) return der(one.tag, one.bytes);
    return new Uint8Array(new x509.GeneralName(...one).rawData);
  });
  return new x509.Extension(SUBJECT_ALTERNATIVE_NAME, false, der(0x30, Buffer.concat(items)));
}

/** The request with these attributes, by their bytes. Its signature is not renewed: the approver leaves it to the signer. */
export function withAttributes(pem: string, attributes: Uint8Array): string {
  const { publicKey, subjectName } = new x509.Pkcs10CertificateRequest(pem);
  const parts = [
    Buffer.from([2, 1, 0]),
    Buffer.from(subjectName.toArrayBuffer()),
    Buffer.from(publicKey.rawData),
    der(0xa0, attributes),
  ];
  const [ecdsaWithSha256, signature] = [Buffer.from('300a06082a8648ce3d040302', 'hex'), Buffer.from([3, 1, 0])];
  const request = der(0x30, Buffer.concat([der(0x30, Buffer.concat(parts)), ecdsaWithSha256, signature]));
  return `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** The object identifier of the attribute that asks for extensions. */
export const EXTENSION_REQUEST: Buffer = Buffer.from('06092a864886f70d01090e', 'hex');

/** Tag, length, value. */
export function der(tag: number, bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), bytes]);
}

export const NOW: number = Date.UTC(2026, 0, 1);

export function nodeOf(name: string, providerID: string | undefined = `fake://${name}`, uid = `uid-${name}`): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid, creationTimestamp: new Date(NOW - 60_000).toISOString() },
    spec: { ...(providerID && { providerID }) },
  };
}

export function machine(providerID: string, addresses: readonly NodeAddress[] | undefined): InstanceResult {
  const instance: Instance = { providerID, state: 'running', ...(addresses && { addresses }) };
  return { kind: 'found', instance };
}

export class ServingRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock(NOW);
  readonly nodes: FakeNodeApi = new FakeNodeApi();
  /** As the store keeps them. */
  readonly requests: FakeNodeApi = new FakeNodeApi();
  /** As the API server does. */
  readonly #whole = new Map<string, CertificateSigningRequest>();
  readonly events: { readonly about: string; readonly reason: string; readonly message: string }[] = [];
  /** By provider ID. */
  readonly cloud: Map<string, InstanceResult> = new Map([
    ['fake://node-1', machine('fake://node-1', NODE_1_ADDRESSES)],
    [
      'fake://node-2',
      machine('fake://node-2', [
        { type: 'InternalIP', address: '10.0.0.2' },
        { type: 'Hostname', address: 'node-2' },
      ]),
    ],
  ]);
  readonly reads: NodeRef[] = [];
  readonly journal: Journal;
  readonly writes: Patch[] = [];
  /** Called before each write; throw to fail it. */
  beforeWrite: (name: string) => void = () => {};
  /** Reads answer no sooner. */
  gate: Promise<void> = Promise.resolve();
  /** Milliseconds by which what a read answers is old. */
  staleMs: number = 0;
  readonly controller: KubeletServingApprover;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: Partial<ServingOptions> & { readonly dryRun?: boolean } = {}) {
    const { dryRun = false, ...serving } = options;
    this.journal = new Journal({ clock: this.clock, logger: silentLogger, dryRun, redact: (text) => text });
    this.controller = createKubeletServingApprover({
      client: { of: <T extends KubeObject>() => this.#client() as unknown as ResourceClient<T> },
      store: this.requests.store as unknown as Store<CertificateSigningRequest>,
      nodes: this.nodes.store,
      lookups: {
        read: (node, how) => this.#read(node, how),
        machineOf: (providerID) => providerID.replace('fake://zone/', 'fake://'),
      },
      events: {
        record: ({ metadata }, { message, reason }) =>
          void this.events.push({ about: metadata?.name ?? '', reason, message }),
      },
      clock: this.clock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
      journal: this.journal.of('kubelet-serving-approver'),
      options: { providerName: 'fake', providerNames: ['fake'], isDefault: true, ...serving },
    });
    this.nodes.put(nodeOf('node-1'));
    this.nodes.put(nodeOf('node-2'));
  }

  async start(): Promise<void> {
    this.#running = this.controller.run(this.#ended.signal);
    // The parser is loaded when it runs.
    await import('./serving-request.ts');
    await this.settle();
  }

  async settle(ms = 0): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await this.clock.advance(0);
    if (ms > 0) await this.clock.advance(ms);
  }

  async ask(name: string, spec?: RequestSpec): Promise<void> {
    this.put(await requestOf(name, spec));
    await this.settle();
  }

  put(csr: CertificateSigningRequest): void {
    this.#whole.set(csr.metadata?.name ?? '', csr);
    this.requests.put(trimServingRequest(csr) as object);
  }

  get(name: string): CertificateSigningRequest {
    const whole = this.#whole.get(name) as CertificateSigningRequest;
    const { resourceVersion = '' } = this.requests.nodes.get(name)?.metadata ?? {};
    return { ...whole, metadata: { ...whole.metadata, resourceVersion } };
  }

  /** `Approved`, `Denied`, or `pending`. */
  verdict(name: string): string {
    return (
      this.get(name)
        .status?.conditions?.map(({ type }) => type)
        .join() ?? 'pending'
    );
  }

  #client(): { readonly patch: (...args: Parameters<ResourceClient<CertificateSigningRequest>['patch']>) => unknown } {
    return {
      patch: async ({ name }, patch, options) => {
        await Promise.resolve();
        if (options?.subresource !== 'approval') throw new Error(`a patch of ${options?.subresource}`);
        if (patch.type !== 'merge') throw new Error(`patch type ${patch.type} is not expected`);
        this.beforeWrite(name);
        const now = this.get(name);
        const { metadata, status } = patch.body as CertificateSigningRequest;
        if (now.metadata?.resourceVersion !== metadata?.resourceVersion) {
          throw new StatusError('PATCH', 409, { reason: 'Conflict', code: 409 });
        }
        this.writes.push(patch);
        this.put({ ...now, status: { ...now.status, ...status } });
        return this.get(name);
      },
    };
  }

  async #read(node: NodeRef, { notBefore = 0, signal }: ReadOptions): Promise<DatedAnswer> {
    this.reads.push(node);
    const asOf = this.clock.monotonic() - this.staleMs;
    await this.gate;
    signal.throwIfAborted();
    // As the look-ups do.
    if (asOf < notBefore) return { asOf, result: { kind: 'failed', error: new Error('older than asked for') } };
    return { asOf, result: this.cloud.get(node.providerID ?? '') ?? { kind: 'missing' } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.settle();
    await this.#running;
  }
}
