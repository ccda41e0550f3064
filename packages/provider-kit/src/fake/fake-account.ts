/** What one account has in a fake cloud: its things, and what is under way. */
import type { Clock } from '@outrigger/cloud-provider';
import { FakeCollection, type CollectionSurroundings } from './fake-collection.ts';
import type { FakeLongOperation, FakeResource, FakeThing } from './fake-table.ts';

interface Task {
  readonly at: number;
  readonly run: () => void;
}

export interface FakeAccountOptions {
  readonly name: string;
  readonly resources: Readonly<Record<string, FakeResource>>;
  readonly clock: Clock;
  /** A number that never comes again in the whole cloud. */
  readonly number: () => number;
  readonly hasOperations: boolean;
  /** What of a thing does not fit the properties of its resource. */
  readonly problemsOf: (resource: string, thing: FakeThing) => readonly string[];
}

/** Operations that are over are forgotten after as many. */
const MOST_OPERATIONS = 10_000;

export class FakeAccount implements CollectionSurroundings {
  readonly name: string;
  readonly number: () => number;
  readonly problemsOf: FakeAccountOptions['problemsOf'];
  readonly #clock: Clock;
  readonly #hasOperations: boolean;
  readonly #collections: ReadonlyMap<string, FakeCollection>;
  readonly #operations = new Map<string, FakeLongOperation>();
  #tasks: readonly Task[] = [];
  /** While what was due is done: when it was due. */
  #due: number | undefined;

  constructor({ clock, hasOperations, name, number, problemsOf, resources }: FakeAccountOptions) {
    this.name = name;
    this.number = number;
    this.problemsOf = problemsOf;
    this.#clock = clock;
    this.#hasOperations = hasOperations;
    const all = Object.entries(resources);
    this.#collections = new Map(all.map(([each, resource]) => [each, new FakeCollection(each, resource, this)]));
  }

  /** Throws for one that the table does not have. */
  resource(name: string): FakeCollection {
    const found = this.#collections.get(name);
    if (found) return found;
    throw new Error(`the table has no resource ${name}, but ${[...this.#collections.keys()].join(', ')}`);
  }

  find(resource: string, id: string): FakeThing | undefined {
    return this.resource(resource).get(id);
  }

  operation(id: string): FakeLongOperation | undefined {
    this.settle();
    return this.#operations.get(id);
  }

  /** Milliseconds, by which versions and durations are measured. */
  now(): number {
    return this.#due ?? this.#clock.monotonic();
  }

  /** Does what is due by now. Every look does this first, so that no timer is needed. */
  settle(): void {
    if (this.#due !== undefined) return;
    for (let next = this.#nextDue(); next; next = this.#nextDue()) {
      const task = next;
      this.#tasks = this.#tasks.filter((one) => one !== task);
      this.#due = task.at;
      try {
        task.run();
      } finally {
        this.#due = undefined;
      }
    }
  }

  /** For collections: begins what is over after a time. */
  begin(
    of: Pick<FakeLongOperation, 'kind' | 'resource' | 'target'>,
    takesMs: number,
    failure: FakeLongOperation['error'],
    run: () => void,
  ): FakeLongOperation | undefined {
    const running: FakeLongOperation = { id: `operation-${this.number()}`, ...of, status: 'running' };
    this.#operations.set(running.id, running);
    const [oldest] = this.#operations.keys();
    if (this.#operations.size > MOST_OPERATIONS && oldest !== undefined) this.#operations.delete(oldest);
    const task: Task = {
      at: this.now() + takesMs,
      run: () => {
        run();
        this.#operations.set(running.id, {
          ...running,
          ...(failure ? { status: 'failed', error: failure } : { status: 'done' }),
        });
      },
    };
    this.#tasks = [...this.#tasks, task].toSorted((a, b) => a.at - b.at);
    return this.#hasOperations ? running : undefined;
  }

  /** For collections: who names a thing. */
  usersOf(resource: string, id: string): ReturnType<CollectionSurroundings['usersOf']> {
    return [...this.#collections.values()].flatMap((by) => by.usersOf(resource, id).map((use) => ({ by, ...use })));
  }

  #nextDue(): Task | undefined {
    const [first] = this.#tasks;
    return first && first.at <= this.#clock.monotonic() ? first : undefined;
  }
}
