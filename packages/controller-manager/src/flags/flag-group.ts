/**
 * Flags as data. A group is the options that one part of a program takes, with a flag for each: the key `kubeApiQps` is
 * the flag `--kube-api-qps`. A part exports its options as an interface and the flags as `FlagGroup<Options>`.
 */
import type { FlagType } from './flag-type.ts';

export interface Flag<T> {
  readonly type: FlagType<T>;
  readonly default: T;
  /** One or two sentences for `--help`, units included. */
  readonly usage: string;
  /** One letter: `-v`. */
  readonly shorthand?: string;
  /** Accepted for compatibility, without an effect here: `--help` only names it, in its last group. */
  readonly compatibility?: boolean;
  /** Accepted, but not shown in `--help`. */
  readonly hidden?: boolean;
  /** Accepted with a warning that ends in this text; not shown in `--help`. */
  readonly deprecated?: string;
}

export interface FlagGroup<O extends object> {
  /** The heading in `--help`, for example `Generic`. */
  readonly title: string;
  readonly flags: { readonly [K in keyof O]: Flag<O[K]> };
}

/** `kubeApiQps` → `kube-api-qps`. */
export function flagNameOf(key: string): string {
  return key.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
}
