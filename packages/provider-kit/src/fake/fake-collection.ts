/**
 * The things of one resource in one account: what a test sees and changes, and what requests do by the cloud's rules. Over
 * 400 lines: both work on the same rows, and every rule of a write belongs beside the others.
 */
import { FakeRefusal } from './fake-error.ts';
import type {
  FakeChange,
  FakeLag,
  FakeLongOperation,
  FakeReference,
  FakeResource,
  FakeState,
  FakeThing,
} from './fake-table.ts';
import { asOf, isWithin, keyOf, lastOf, namesIn, referenceOf, type FakeScope, type Row } from './fake-row.ts';
import { textOf } from './member-path.ts';

/** What a write comes to. */
export interface FakeWritten {
  readonly thing: FakeThing;
  /** What takes time, where the table has operations. */
  readonly operation: FakeLongOperation | undefined;
  /** Whether the thing was made. */
  readonly made: boolean;
}

export interface FakeWriteOptions {
  readonly scope?: FakeScope | undefined;
  /** It fails when its time is over. */
  readonly failsLater?: { readonly code: string; readonly message: string } | undefined;
  /** The version that the client has seen. */
  readonly version?: string | undefined;
  /** Whether what the values leave out stays. */
  readonly merges?: boolean | undefined;
}

/** Of a thing that names another one. */
interface FakeUse {
  readonly id: string;
  readonly how: NonNullable<FakeReference['whenGone']>;
}

/** What a collection needs of the account that it is in. */
export interface CollectionSurroundings extends FakeState {
  now(): number;
  readonly number: () => number;
  settle(): void;
  readonly problemsOf: (resource: string, thing: FakeThing) => readonly string[];
  begin(
    of: Pick<FakeLongOperation, 'kind' | 'resource' | 'target'>,
    takesMs: number,
    failure: FakeLongOperation['error'],
    run: () => void,
  ): FakeLongOperation | undefined;
  usersOf(
    resource: string,
    id: string,
  ): readonly (FakeUse & { readonly by: Pick<FakeCollection, 'delete' | 'name'> })[];
}

export class FakeCollection {
  readonly name: string;
  readonly resource: FakeResource;
  /** Quota. May be set at any time. */
  most: number;
  /** Milliseconds that a write takes. May be set at any time, for writes from then on. */
  takesMs: number | Partial<Readonly<Record<FakeChange, number>>>;
  /** By which answers lie behind writes. May be set at any time, for writes from then on. */
  lag: FakeLag;
  readonly #account: CollectionSurroundings;
  readonly #rows = new Map<string, Row>();

  constructor(name: string, resource: FakeResource, account: CollectionSurroundings) {
    this.name = name;
    this.resource = resource;
    this.most = resource.most ?? Infinity;
    this.takesMs = resource.takesMs ?? 0;
    this.lag = resource.lag ?? {};
    this.#account = account;
  }

  // What a test does, behind the cloud's back: no rule holds, nothing takes time

  /** All things as they stand, in the order in which they came. */
  all(): readonly FakeThing[] {
    return this.#current().map(({ thing }) => thing);
  }

  ids(): readonly string[] {
    return this.#current().map(({ row }) => row.id);
  }

  get size(): number {
    return this.#current().length;
  }

  /** As it stands; `undefined`: there is none. Without `scope` the first of this ID. */
  get(id: string, scope?: FakeScope): FakeThing | undefined {
    this.#account.settle();
    const row = this.#row(id, scope);
    return row && lastOf(row);
  }

  /** Puts a thing there, in place of one of its ID. Without an ID it gets one. Throws for what is none by the resource's properties. */
  put(thing: FakeThing, scope: FakeScope = {}): FakeThing {
    const { idMember = 'id' } = this.resource;
    const id = thing[idMember] === undefined ? this.#newId({}, this.#account.number()) : textOf(thing[idMember]);
    const whole: FakeThing = { [idMember]: id, ...thing };
    const problems = this.#account.problemsOf(this.name, whole);
    if (problems.length > 0) throw new Error(`this is none of ${this.name}: ${problems.join('; ')}`);
    this.#write(this.#row(id, scope) ?? this.#newRow(id, scope), whole);
    return whole;
  }

  /** Sets members of a thing that is there. Throws when it is not. */
  patch(id: string, members: Readonly<Record<string, unknown>>, scope?: FakeScope): FakeThing {
    const row = this.#row(id, scope);
    const thing = this.get(id, scope);
    if (!row || !thing) throw new Error(`there is no ${this.name} ${id}`);
    return this.put({ ...thing, ...members }, row.scope);
  }

  /** Takes a thing away, whoever uses it. Returns whether it was there. */
  delete(id: string, scope?: FakeScope): boolean {
    this.#account.settle();
    const row = this.#row(id, scope);
    if (!row || !lastOf(row)) return false;
    this.#write(row, undefined);
    return true;
  }

  // What requests do: by the rules, and in the time that it takes. Behaviours call these too. Each throws a `FakeRefusal`

  /** As a list shows it, which may be late. */
  list(scope: FakeScope = {}): readonly FakeThing[] {
    const before = this.#account.now() - (this.lag.lists ?? 0);
    return [...this.#rows.values()]
      .filter((row) => isWithin(row.scope, scope))
      .flatMap((row) => [asOf(row, before)].filter((thing) => thing !== undefined))
      .map((thing) => this.#shown(thing));
  }

  /** As a read shows it, which may be late. */
  read(id: string, scope?: FakeScope): FakeThing {
    const row = this.#row(id, scope);
    const thing = row && asOf(row, this.#account.now() - (this.lag.reads ?? 0));
    return thing ? this.#shown(thing) : this.#refuseUnknown(id);
  }

  /** The version of a thing, for conditions. */
  version(id: string, scope?: FakeScope): string | undefined {
    const row = this.#row(id, scope);
    return row && String(row.revision);
  }

  create(values: Readonly<Record<string, unknown>>, options: FakeWriteOptions = {}): FakeWritten {
    const { failsLater, scope = {} } = options;
    const { idMember = 'id', made, states } = this.resource;
    this.#checkParents(scope);
    this.#checkReferences(values);
    const n = this.#account.number();
    const id = this.#newId(values, n);
    const old = this.#row(id, scope);
    if (old && (lastOf(old) || old.writes > 0)) throw new FakeRefusal('exists', `${this.name} ${id} is there already`);
    this.#checkUnique(values, id);
    if (this.#taken() >= this.most)
      throw new FakeRefusal('quota', `there may be no more than ${this.most} ${this.name}`);
    const given = { ...this.#defaults(), ...values, [idMember]: id };
    const state = states && { [states.member]: states.ready };
    const whole: FakeThing = { ...given, ...state, ...made?.({ ...given, ...state }, n) };
    const row = old ?? this.#newRow(id, scope);
    const takes = this.#takes('create');
    const thing =
      takes > 0 && states ? this.#write(row, { ...whole, [states.member]: states.making ?? states.ready }) : whole;
    const operation = this.#later('create', row, takes, failsLater, {
      done: () => {
        if (takes === 0 || !states) this.#write(row, whole);
        else this.#setState(row, states.ready);
      },
      failed: () => {
        if (states?.failed !== undefined) this.#setState(row, states.failed);
        else if (lastOf(row)) this.#write(row, undefined);
        else this.#rows.delete(keyOf(id, scope));
      },
    });
    return { thing: this.#shown(lastOf(row) ?? thing), operation, made: true };
  }

  change(
    id: string,
    values: Readonly<Record<string, unknown>>,
    { failsLater, merges = true, scope, version }: FakeWriteOptions = {},
  ): FakeWritten {
    const { states } = this.resource;
    const row = this.#writable(id, scope);
    this.#checkVersion(row, version ?? this.#versionIn(values));
    this.#checkReferences(values);
    this.#checkUnique(values, row.id);
    const takes = this.#takes('change');
    if (takes > 0) this.#setState(row, states?.changing);
    const operation = this.#later('change', row, takes, failsLater, {
      done: () => {
        const now = lastOf(row);
        if (!now) return;
        const kept = merges ? now : { ...this.#defaults(), ...this.#ownMembers(now) };
        const state = states && { [states.member]: takes > 0 ? states.ready : now[states.member] };
        this.#write(row, { ...kept, ...(merges ? withoutNull(values) : values), ...state });
      },
      failed: () => this.#setState(row, states?.failed ?? states?.ready),
    });
    return { thing: this.#shown(lastOf(row) ?? {}), operation, made: false };
  }

  remove(id: string, { failsLater, scope, version }: FakeWriteOptions = {}): FakeWritten {
    const { states } = this.resource;
    const row = this.#writable(id, scope);
    this.#checkVersion(row, version);
    const users = this.#account.usersOf(this.name, row.id);
    const holder = users.find(({ how }) => how === 'refused');
    if (holder) throw new FakeRefusal('in-use', `${this.name} ${row.id} is in use by ${holder.by.name} ${holder.id}`);
    const takes = this.#takes('delete');
    if (takes > 0) this.#setState(row, states?.deleting);
    const last = lastOf(row) ?? {};
    const operation = this.#later('delete', row, takes, failsLater, {
      done: () => {
        for (const { by, how, id: user } of users) if (how === 'cascades') by.delete(user);
        this.#write(row, undefined);
      },
      failed: () => this.#setState(row, states?.failed ?? states?.ready),
    });
    return { thing: this.#shown(last), operation, made: false };
  }

  /** One of the resource's actions. */
  act(
    id: string,
    name: string,
    body: Readonly<Record<string, unknown>> = {},
    { failsLater, scope }: FakeWriteOptions = {},
  ): FakeWritten {
    const { actions = {}, states } = this.resource;
    const action = actions[name];
    if (!action) throw new FakeRefusal('no-route', `${this.name} have no action ${name}`);
    const row = this.#writable(id, scope);
    const thing = lastOf(row) ?? {};
    const state = states && textOf(thing[states.member]);
    if (action.from && (state === undefined || !action.from.includes(state))) {
      throw new FakeRefusal(
        'busy',
        `${this.name} ${row.id} is ${state}, and can be asked to ${name} when it is ${action.from.join(' or ')}`,
      );
    }
    const takes = action.takesMs ?? 0;
    if (takes > 0) this.#setState(row, states?.changing);
    const operation = this.#later(name, row, takes, failsLater, {
      done: () => {
        const now = lastOf(row);
        if (!now) return;
        const next = action.to ?? state;
        this.#write(row, {
          ...now,
          ...(states && next !== undefined && { [states.member]: next }),
          ...action.sets?.(now, body),
        });
      },
      failed: () => this.#setState(row, states?.failed ?? state),
    });
    return { thing: this.#shown(lastOf(row) ?? {}), operation, made: false };
  }

  /** The things that name one of another resource. For the account. */
  usersOf(resource: string, id: string): readonly FakeUse[] {
    const all = Object.entries(this.resource.references ?? {}).map(([path, given]) => ({
      path,
      ...referenceOf(given),
    }));
    return all
      .filter(({ to }) => to === resource)
      .flatMap(({ idOf, path, whenGone = 'refused' }) =>
        this.#current()
          .filter(({ thing }) => namesIn(thing, path, idOf).includes(id))
          .map(({ row }) => ({ id: row.id, how: whenGone })),
      );
  }

  #current(): readonly { readonly row: Row; readonly thing: FakeThing }[] {
    this.#account.settle();
    return [...this.#rows.values()].flatMap((row) => {
      const thing = lastOf(row);
      return thing ? [{ row, thing }] : [];
    });
  }

  /** With those whose making is not over. */
  #taken(): number {
    return [...this.#rows.values()].filter((row) => lastOf(row) || row.writes > 0).length;
  }

  #row(id: string, scope?: FakeScope): Row | undefined {
    if (scope && Object.keys(scope).length > 0) return this.#rows.get(keyOf(id, scope));
    return this.#rows.get(id) ?? [...this.#rows.values()].find((row) => row.id === id);
  }

  #newRow(id: string, scope: FakeScope): Row {
    const row: Row = { id, scope, versions: [], revision: 0, writes: 0 };
    this.#rows.set(keyOf(id, scope), row);
    return row;
  }

  #newId(values: Readonly<Record<string, unknown>>, n: number): string {
    const { create, idMember = 'id' } = this.resource;
    const { id = create === 'PUT' ? 'given' : `${this.name}-{n}` } = this.resource;
    const given = values[idMember];
    if (id === 'given') {
      if (typeof given === 'string' && given !== '') return given;
      throw new FakeRefusal('invalid', `${idMember} is missing`);
    }
    return id
      .replaceAll('{n}', String(n))
      .replaceAll('{uuid}', `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`);
  }

  /** For a write of what is there. */
  #writable(id: string, scope: FakeScope | undefined): Row {
    const row = this.#row(id, scope);
    if (!row || !lastOf(row)) return this.#refuseUnknown(id);
    if (this.resource.states?.locked && row.writes > 0) {
      throw new FakeRefusal('busy', `${this.name} ${id} cannot be changed: a write of it is under way`);
    }
    return row;
  }

  #write(row: Row, thing: FakeThing | undefined): FakeThing {
    row.revision = this.#account.number();
    const { versions } = this.resource;
    const isMember = thing && typeof versions?.by === 'object';
    const whole = isMember ? { ...thing, [(versions.by as { member: string }).member]: String(row.revision) } : thing;
    const at = this.#account.now();
    const longest = Math.max(this.lag.lists ?? 0, this.lag.reads ?? 0);
    // What no answer can show any more goes: of the versions before the oldest answer only the last is of use.
    const oldest = row.versions.findLastIndex((version) => version.at <= at - longest);
    row.versions = [...row.versions.slice(Math.max(oldest, 0)), { at, thing: whole }];
    if (!whole && longest === 0 && row.writes === 0) this.#rows.delete(keyOf(row.id, row.scope));
    return whole ?? {};
  }

  #setState(row: Row, state: string | undefined): void {
    const thing = lastOf(row);
    const member = this.resource.states?.member;
    if (thing && member !== undefined && state !== undefined) this.#write(row, { ...thing, [member]: state });
  }

  #later(
    kind: string,
    row: Row,
    takesMs: number,
    failure: FakeWriteOptions['failsLater'],
    { done, failed }: { readonly done: () => void; readonly failed: () => void },
  ): FakeLongOperation | undefined {
    if (takesMs === 0 && !failure) {
      done();
      return undefined;
    }
    row.writes++;
    return this.#account.begin({ kind, resource: this.name, target: row.id }, takesMs, failure, () => {
      row.writes--;
      if (failure) failed();
      else done();
    });
  }

  #takes(kind: FakeChange): number {
    return typeof this.takesMs === 'number' ? this.takesMs : (this.takesMs[kind] ?? 0);
  }

  #shown(thing: FakeThing): FakeThing {
    return structuredClone(this.resource.shown?.(thing, this.#account) ?? thing);
  }

  #defaults(): Readonly<Record<string, unknown>> {
    const all = Object.entries(this.resource.properties ?? {});
    return Object.fromEntries(
      all.filter(([, schema]) => schema['default'] !== undefined).map(([name, schema]) => [name, schema['default']]),
    );
  }

  /** What a client does not write, and a write of the whole does not take away. */
  #ownMembers(thing: FakeThing): Readonly<Record<string, unknown>> {
    const { idMember = 'id', properties = {}, states } = this.resource;
    const own = (name: string): boolean =>
      name === idMember || name === states?.member || properties[name]?.['readOnly'] === true;
    return Object.fromEntries(Object.entries(thing).filter(([name]) => own(name)));
  }

  #versionIn(values: Readonly<Record<string, unknown>>): string | undefined {
    const { versions } = this.resource;
    if (typeof versions?.by !== 'object') return undefined;
    const version = values[versions.by.member];
    return version === undefined ? undefined : textOf(version);
  }

  #checkVersion({ id, revision }: Row, version: string | undefined): void {
    const { versions } = this.resource;
    if (!versions || (version === undefined && versions.required !== true)) return;
    if (version === '*' || version === String(revision)) return;
    const why = version === undefined ? 'it says no version' : `it has another version than ${version}`;
    throw new FakeRefusal('changed', `${this.name} ${id} was not changed: ${why}`);
  }

  #checkParents(scope: FakeScope): void {
    for (const [brace, parent] of Object.entries(this.resource.parents ?? {})) {
      const id = scope[brace] ?? '';
      if (!this.#account.find(parent, id)) throw new FakeRefusal('not-found', `there is no ${parent} ${id}`);
    }
  }

  #checkReferences(values: Readonly<Record<string, unknown>>): void {
    for (const [path, given] of Object.entries(this.resource.references ?? {})) {
      const { idOf, missing = 'reference', to } = referenceOf(given);
      const lost = namesIn(values, path, idOf).find((id) => !this.#account.find(to, id));
      if (lost !== undefined) throw new FakeRefusal(missing, `${path}: there is no ${to} ${lost}`);
    }
  }

  #checkUnique(values: Readonly<Record<string, unknown>>, id: string): void {
    for (const member of this.resource.unique ?? []) {
      const other = this.#current().find(
        ({ row, thing }) => row.id !== id && values[member] !== undefined && thing[member] === values[member],
      );
      if (other) throw new FakeRefusal('exists', `${this.name} ${other.row.id} has the same ${member}`);
    }
  }

  #refuseUnknown(id: string): never {
    throw new FakeRefusal('not-found', `there is no ${this.name} ${id}`);
  }
}

/** A member that a change sets to null goes. */
function withoutNull(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === null ? undefined : value]));
}
