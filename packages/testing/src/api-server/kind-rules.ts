/** What a kind adds to the rules that hold for all objects. Every member may be left out. */
import type { NamedObject } from './api-object.ts';
import type { FieldError } from './status-error.ts';

/** What rules may ask of the server. */
export interface RuleContext {
  /** RFC 3339, whole seconds, as creation timestamps are written. */
  readonly now: string;
  /** Cluster IPs and node ports, each given once. */
  readonly allocator: {
    clusterIp(family: 'IPv4' | 'IPv6'): string;
    nodePort(): number;
    /** A cluster IP that the client asks for. False when another service has it. */
    claimClusterIp(address: string): boolean;
    claimNodePort(port: number): boolean;
    release(addresses: readonly string[], ports: readonly number[]): void;
  };
}

export interface KindRules {
  /** Default: a DNS subdomain. */
  readonly name?: 'subdomain' | 'label' | 'service';
  /** Whether `metadata.generation` counts changes of spec. Default: no, as for most kinds of the core group. */
  readonly generation?: boolean;
  /** Whether PUT of an object that is not there creates it. */
  readonly createOnUpdate?: boolean;
  /** Whether PUT needs a resourceVersion. */
  readonly versionRequired?: boolean;
  /** Whether a POSTed status is kept (the kubelet registers nodes with one) or dropped. Default: kept. */
  readonly statusOnCreate?: 'keep' | 'drop';
  /** Fills in what the API fills in. Called before validation, on create and on each update, for an object that the caller owns. */
  defaults?(object: NamedObject): void;
  /** Sets what only the server sets on create: addresses, phases. */
  prepareCreate?(object: NamedObject, context: RuleContext): readonly FieldError[];
  prepareUpdate?(object: NamedObject, old: NamedObject, context: RuleContext): readonly FieldError[];
  validate?(object: NamedObject): readonly FieldError[];
  validateUpdate?(object: NamedObject, old: NamedObject): readonly FieldError[];
  /** How long a deleted object stays, in seconds. Default: 0. */
  gracePeriodSeconds?(object: NamedObject): number;
  /** Called when the object is gone. */
  released?(object: NamedObject, context: RuleContext): void;
}
