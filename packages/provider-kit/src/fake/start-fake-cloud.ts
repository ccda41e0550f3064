/** A fake cloud as a server on 127.0.0.1. */
import type { Clock } from '@outrigger/cloud-provider';
import { FakeCloud, type FakeAccounts, type FakeCloudParts } from './fake-cloud.ts';
import { FakeServer } from './fake-server.ts';
import { tableModel } from './table-model.ts';
import { botocoreModel } from './botocore-model.ts';
import type { BotocoreDocument } from './botocore.ts';
import type { FakeCall } from './call-log.ts';
import { readDiscovery, type DiscoveryDocument } from './discovery.ts';
import type { FakeBehaviour, FakeModel } from './fake-model.ts';
import type { FakeTable } from './fake-table.ts';
import { readOpenApi } from './openapi.ts';
import type { OpenApiDocument } from './openapi-files.ts';
import { checkNames, restModel } from './rest-model.ts';
import type { SchemaChecks } from './schema-check.ts';

export interface FakeCloudOptions {
  /** Durations, lag and delays are by it. A `FakeClock` will do: nothing waits for a timer but a fault's `delayMs`. */
  readonly clock: Clock;
  /** What there is, and how it behaves. With a model beside it, `properties` may be left out: the model has the schemas. */
  readonly table: FakeTable;
  /** The cloud's own model, one of these: what is asked and answered is judged by it, at its paths. Default: the table is the model. */
  readonly openapi?: OpenApiDocument;
  /** Other files that `openapi` names by `$ref`, by their paths from it: `schemas/server.yaml`. Default: none. */
  readonly openapiFiles?: Readonly<Record<string, OpenApiDocument>>;
  readonly discovery?: DiscoveryDocument;
  readonly botocore?: BotocoreDocument;
  /**
   * What operations of the model do, by their names, where that is another thing than the table says for that method and path.
   * Default: what the table says; an operation of which nothing is said is refused with `no-route`.
   */
  readonly behaviours?: Readonly<Record<string, FakeBehaviour>>;
  /**
   * Which account a bearer token stands for, or a function that finds it in a request: by a header, a signature. Others are refused
   * with 401. Default: every request belongs to one account.
   */
  readonly accounts?: FakeAccounts;
  /** Told of each call when it is answered: for one log of several clouds. Default: nobody is. */
  readonly onCall?: (call: FakeCall) => void;
}

/** A fake cloud that listens. */
export class RunningFakeCloud extends FakeCloud implements AsyncDisposable {
  #server: FakeServer | undefined;

  /** For `startFakeCloud`. */
  async listen(): Promise<void> {
    this.#server = await FakeServer.start((request) => this.handle(request));
  }

  /** `http://127.0.0.1:<port>`. */
  get endpoint(): string {
    return this.#server?.endpoint ?? '';
  }

  /**
   * Stops listening. Rejects when something was asked for, or answered, that does not fit the model, and `calls.takeProblems` did not
   * take it: so a test fails whose provider sends a name that the cloud does not know, whatever it makes of the answer.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    const problems = this.calls.takeProblems();
    if (problems.length > 0) throw new Error(`the fake cloud has found:\n  ${problems.join('\n  ')}`);
  }
}

/** Starts a cloud of nothing but what its table says. Rejects when it cannot listen, and for a table that contradicts itself. */
export async function startFakeCloud(options: FakeCloudOptions): Promise<RunningFakeCloud> {
  const cloud = new RunningFakeCloud(partsOf(options));
  await cloud.listen();
  return cloud;
}

/** The same without a server: requests are handed to `handle`. For tests of a fake, and for one whose requests come another way. */
export function fakeCloud(options: FakeCloudOptions): FakeCloud {
  return new FakeCloud(partsOf(options));
}

function partsOf({
  accounts,
  behaviours = {},
  botocore,
  clock,
  discovery,
  onCall,
  openapi,
  openapiFiles,
  table,
}: FakeCloudOptions): FakeCloudParts {
  const model = (checks: SchemaChecks): FakeModel => {
    if (openapi) return restModel(readOpenApi(openapi, openapiFiles), { table, behaviours, checks });
    if (discovery) return restModel(readDiscovery(discovery), { table, behaviours, checks });
    if (botocore) return botocoreModel(botocore, { behaviours });
    checkNames(behaviours, []);
    return tableModel(table, checks);
  };
  return { clock, table, accounts, model, onCall };
}
