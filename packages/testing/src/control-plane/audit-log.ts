/** The API server's own record of what it was asked: the count that no client can get wrong. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';

/** The parts of `audit.k8s.io/v1 Event` that a count by verb, user or resource needs. Written at level Metadata. */
export interface AuditEntry {
  readonly auditID: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Every request once, with its code, when it is over; watches also when they begin. */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`;

/** What `mark` reads at once; an entry is shorter. */
const MARK_BYTES = 16_384;

/** Reads the log file of a running API server. What a client has had the answer to is in it: the log is written first. */
export class AuditLog {
  /** The file, one JSON object a line. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** All entries so far, oldest first. */
  async *entries(): AsyncIterable<AuditEntry> {
    for await (const { entry } of this.#read(0)) yield entry;
  }

  /** Requests so far, each once: those that are over, and watches that are open. */
  requests(filter: (entry: AuditEntry) => boolean = () => true): Promise<AuditEntry[]> {
    return this.#requests(0, filter);
  }

  /**
   * How many requests per key, for example `(entry) => entry.verb`. Requests with key `undefined` are not counted.
   * A `mark()` counts only what came after it.
   */
  async count(
    keyOf: (entry: AuditEntry) => string | undefined,
    since: AuditMark = { offset: 0 },
  ): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const entry of await this.#requests(since.offset, () => true)) {
      const key = keyOf(entry);
      if (key !== undefined) counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  /** The end of the log as it is now. Read from the end: in the time of reading it all, a server that is at work writes more. */
  async mark(): Promise<AuditMark> {
    await using file = await open(this.path);
    let { size: offset } = await file.stat();
    while (offset > 0) {
      const length = Math.min(offset, MARK_BYTES);
      const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: offset - length });
      const newline = buffer.lastIndexOf(10);
      if (newline >= 0) return { offset: offset - length + newline + 1 };
      offset -= length;
    }
    return { offset };
  }

  async #requests(offset: number, filter: (entry: AuditEntry) => boolean): Promise<AuditEntry[]> {
    const requests = new Map<string, AuditEntry>();
    for await (const { entry } of this.#read(offset)) requests.set(entry.auditID, entry);
    return [...requests.values()].filter(filter);
  }

  /** Whole lines only: the server may be writing the last one. Offsets are in bytes. */
  async *#read(start: number): AsyncIterable<{ readonly entry: AuditEntry; readonly end: number }> {
    let rest: Buffer = Buffer.alloc(0);
    let end = start;
    for await (const chunk of createReadStream(this.path, { start }) as AsyncIterable<Buffer>) {
      rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      for (let newline = rest.indexOf(10); newline >= 0; newline = rest.indexOf(10)) {
        end += newline + 1;
        yield { entry: JSON.parse(rest.toString('utf8', 0, newline)) as AuditEntry, end };
        rest = rest.subarray(newline + 1);
      }
    }
  }
}

/** A place in the audit log. */
export interface AuditMark {
  readonly offset: number;
}
