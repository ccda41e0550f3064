/** What a fake cloud is made of, as data: resources, how they hang together, how long things take, and what errors look like. */
import type { JsonSchema } from './schema-check.ts';
import type { FakeError, FakeReason } from './fake-error.ts';

/** A thing of the cloud as JSON. Its ID is under the resource's `idMember`. */
export type FakeThing = Readonly<Record<string, unknown>>;

/** What a write does to things: for durations and operations. */
export type FakeChange = 'create' | 'change' | 'delete';

/** That a member of a thing names another one. */
export interface FakeReference {
  /** The resource that it names. */
  readonly to: string;
  /** How the ID is read out of the member's value: the last segment of a link. Default: the value is the ID. */
  readonly idOf?: (value: string) => string;
  /** What a request is refused with whose reference leads nowhere. Default: `reference` (422). */
  readonly missing?: FakeReason;
  /** The deletion of what is named: refused with `in-use`, takes this thing with it, or leaves it with a name of nothing. Default: `refused`. */
  readonly whenGone?: 'refused' | 'cascades' | 'dangles';
}

/** Members that say in which state a thing is. */
export interface FakeStates {
  /** `status`. */
  readonly member: string;
  /** When it can be used, and what an action may lead to. */
  readonly ready: string;
  /** Until its making is over. Default: as `ready`. */
  readonly making?: string;
  /** Until a change is over. Default: as `ready`. */
  readonly changing?: string;
  /** Until its deletion is over. Default: the state stays. */
  readonly deleting?: string;
  /** When its making, a change or its deletion failed. Default: it is not there, or as it was. */
  readonly failed?: string;
  /** True: changes and deletions are refused with `busy` (409) while one is under way. Default: false. */
  readonly locked?: boolean;
}

/** `POST <path>/{id}/<name>`: what changes a thing other than by its members. */
export interface FakeAction {
  /** States in which it can be asked for, else `busy` (409). Default: any. */
  readonly from?: readonly string[];
  /** The state that it leads to. Default: that stays. */
  readonly to?: string;
  /** Of the body. Default: it has none. */
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Members of the thing that it sets. Default: none. */
  readonly sets?: (thing: FakeThing, body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Milliseconds. Default: 0. */
  readonly takesMs?: number;
}

/** Milliseconds by which answers lie behind writes. Default: 0. */
export interface FakeLag {
  readonly lists?: number;
  readonly reads?: number;
}

/** Conditional writes. */
export interface FakeVersions {
  /** `etag`: the header, with `If-Match`; else the member that holds the version (`fingerprint`), in answers and in changes. */
  readonly by: 'etag' | { readonly member: string };
  /** True: a change without a version is refused with `changed` (412). Default: false. */
  readonly required?: boolean;
}

export interface FakeResource {
  /**
   * With what stands above it in braces: `/projects/{project}/servers`. What is above is part of a thing's identity.
   * Default: `/` and the resource's name.
   */
  readonly path?: string;
  /** The resource that a brace of the path names, which must be there (404): `{ balancer: 'load-balancers' }`. */
  readonly parents?: Readonly<Record<string, string>>;
  /** Default: `id`. */
  readonly idMember?: string;
  /**
   * How IDs are made: `srv-{n}`, `{uuid}`, with `{n}` a number that never comes again. `given`: the client names it, as with
   * `create: 'PUT'`. Default: `<resource>-{n}`.
   */
  readonly id?: string;
  /** JSON schemas of the members. `readOnly: true`: not in requests. `default`: when a request leaves it out. */
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  /** Of `properties`, which every thing has; a request, unless they are read-only. */
  readonly required?: readonly string[];
  /** Members that the cloud gives a thing when it is made: its address. `n`: a number that never comes again. */
  readonly made?: (thing: FakeThing, n: number) => Readonly<Record<string, unknown>>;
  /** A thing as it is answered. Default: as it is. */
  readonly shown?: (thing: FakeThing, state: FakeState) => FakeThing;
  /** By the path of the member: `subnet`, `targets[].server`. Empty values name nothing. */
  readonly references?: Readonly<Record<string, string | FakeReference>>;
  /** Members of which no two things of one account have the same (`exists`, 409). */
  readonly unique?: readonly string[];
  /** Without: a thing is there when its making is over, and gone when its deletion is. */
  readonly states?: FakeStates;
  /** Milliseconds that a write takes until it is over. Default: 0. */
  readonly takesMs?: number | Partial<Readonly<Record<FakeChange, number>>>;
  readonly lag?: FakeLag;
  /** Quota of an account (`quota`, 403). Default: none. */
  readonly most?: number;
  readonly versions?: FakeVersions;
  /** Parameters of a list: the member that must be equal, or what is shown. Others are refused. */
  readonly filters?: Readonly<Record<string, string | ((thing: FakeThing, value: string) => boolean)>>;
  readonly actions?: Readonly<Record<string, FakeAction>>;
  /** What there is of `GET`, `GET {id}`, `POST`, `PUT` or `PATCH`, `DELETE`. Default: all. */
  readonly methods?: readonly ('list' | 'read' | 'create' | 'change' | 'delete')[];
  /** `PUT {id}`: makes it where it is not there. Default: `POST`. */
  readonly create?: 'POST' | 'PUT';
  /** Default: `PUT`. */
  readonly change?: 'PUT' | 'PATCH';
  /** Whether a change keeps what its body leaves out. Default: `PATCH` does, `PUT` does not. */
  readonly merges?: boolean;
  /** The member of a list's answer. Default: the table's. */
  readonly items?: string;
  /** The member that holds the thing in bodies of one. Default: the body is the thing. */
  readonly item?: string;
  /** False: in answers alone, not in requests. Default: true. */
  readonly wrapsRequests?: boolean;
}

/** How lists come in pages. */
export interface FakePaging {
  /** What the parameter is: the number of a page, an opaque token, the ID of the last thing seen. */
  readonly by: 'page' | 'token' | 'marker';
  /** `page`, `pageToken`, `marker`. */
  readonly parameter: string;
  /** Things a page. */
  readonly size: number;
  /** The number of the first page. Default: 1. */
  readonly first?: number;
  /** The parameter that asks for fewer a page (`per_page`). Default: none. */
  readonly limit?: string;
  /** Where the next page is told: a member of the body (`meta.next_page`) as a value or as a URL, or `Link`. Default: nowhere. */
  readonly next?: { readonly member: string; readonly as?: 'value' | 'url' } | 'link';
  /** What else the body of a page says: how many there are. Default: nothing. */
  readonly told?: (page: FakePageNumbers) => Readonly<Record<string, unknown>>;
}

export interface FakePageNumbers {
  /** Of all pages. */
  readonly total: number;
  /** Things before this page. */
  readonly from: number;
  /** Most things a page. */
  readonly size: number;
}

/** An operation that takes time, as the cloud has it. */
export interface FakeLongOperation {
  readonly id: string;
  readonly resource: string;
  /** Of the thing. */
  readonly target: string;
  /** `create`, `change`, `delete` or an action's name. */
  readonly kind: string;
  readonly status: 'running' | 'done' | 'failed';
  readonly error?: { readonly code: string; readonly message: string };
}

export interface FakeOperations {
  /** Default: `/operations`; one is read at `<path>/{id}`. */
  readonly path?: string;
  /** As it is answered. Default: as it is. */
  readonly shown?: (operation: FakeLongOperation) => unknown;
  /** Beside the thing, under this member. Default: in place of the thing. The header `Location` names it in any case. */
  readonly member?: string;
}

export interface FakeTable {
  readonly resources: Readonly<Record<string, FakeResource>>;
  /** The member of lists' answers. Default: `items`. */
  readonly items?: string;
  /** Default: a list is one page. */
  readonly paging?: FakePaging;
  /** With it, a write that takes time is answered with 202 and an operation. Default: with the thing as it is then. */
  readonly operations?: FakeOperations;
  readonly errors?: FakeErrors;
}

export interface FakeErrors {
  /** The body of an error. Default: `{"error": {"code", "message"}}`. */
  readonly body?: (error: FakeError) => unknown;
  /** Status and code of a reason, where they differ from `FAKE_REASONS`. */
  readonly reasons?: Readonly<Partial<Record<FakeReason, { readonly status?: number; readonly code?: string }>>>;
}

/** What is there, for what the author writes: of one account. */
export interface FakeState {
  /** What a resource has of this ID at this moment, without lag; `undefined`: there is none. */
  find(resource: string, id: string): FakeThing | undefined;
}
