/** Secrets that a provider has named, kept out of every text that is shown. */

import type { SecretOptions } from '@outrigger/cloud-provider';
import { KnownSecrets } from '@outrigger/kube';

const SHOWN_INSTEAD = '[redacted]';
/** An error's causes further down than this are cut off rather than searched: a cause may be its own cause. */
const DEEPEST_CAUSE = 8;

export class Secrets {
  readonly #known = new KnownSecrets();

  add(secret: string, { rotating = false }: SecretOptions = {}): void {
    // A provider is one source.
    this.#known.add(secret, { source: rotating ? 'rotating' : undefined });
  }

  redact(text: string): string {
    return this.#known.replaceIn(text, SHOWN_INSTEAD);
  }

  /** Cleans an error, its causes and what it gathers in place: its identity, class and code are what others know it by. */
  redactError(error: unknown): void {
    if (!this.#known.isEmpty) this.#redactError(error, 0);
  }

  #redactError(error: unknown, depth: number): void {
    if (!(error instanceof Error)) return;
    const message = this.redact(error.message);
    // Defined, not assigned: the message of a DOMException has a getter alone.
    if (message !== error.message) define(error, 'message', message);
    if (error.stack !== undefined) define(error, 'stack', this.redact(error.stack));
    for (const [key, value] of Object.entries(error)) {
      // What HTTP libraries hang onto their errors: the URL with its token.
      if (typeof value === 'string') define(error, key, this.redact(value));
    }
    if (typeof error.cause === 'string') define(error, 'cause', this.redact(error.cause));
    if (depth === DEEPEST_CAUSE) {
      delete error.cause;
      return;
    }
    this.#redactError(error.cause, depth + 1);
    if (error instanceof AggregateError) for (const one of error.errors) this.#redactError(one, depth + 1);
  }

  /** Log fields: strings at any depth; errors are cleaned in place. */
  redactFields(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    if (this.#known.isEmpty) return fields;
    return this.#redactMembers(fields, 0);
  }

  #redactValue(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (value instanceof Error) this.redactError(value);
    if (typeof value !== 'object' || value === null || value instanceof Error) return value;
    if (depth === DEEPEST_CAUSE) return SHOWN_INSTEAD;
    if (Array.isArray(value)) return value.map((item) => this.#redactValue(item, depth + 1));
    return this.#redactMembers(value, depth + 1);
  }

  #redactMembers(fields: object, depth: number): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [this.redact(key), this.#redactValue(value, depth)]),
    );
  }
}

function define(error: Error, key: string, value: string): void {
  const enumerable = Object.prototype.propertyIsEnumerable.call(error, key);
  Reflect.defineProperty(error, key, { value, writable: true, configurable: true, enumerable });
}
