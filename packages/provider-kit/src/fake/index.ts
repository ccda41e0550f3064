/** A cloud to test a provider against, made from a table. See ../../README.md. */
export { fakeCloud, startFakeCloud, type FakeCloudOptions, type RunningFakeCloud } from './start-fake-cloud.ts';
export { FakeServer } from './fake-server.ts';
export type { FakeAccounts, FakeCloud, IncomingFakeRequest } from './fake-cloud.ts';
export type { FakeAccount } from './fake-account.ts';
export type { FakeCollection, FakeWriteOptions, FakeWritten } from './fake-collection.ts';
export type { FakeScope } from './fake-row.ts';
export type { FakeCall, FakeCallLog } from './call-log.ts';
export type { FakeFault, FakeFaults } from './fault-rules.ts';
export { FAKE_REASONS, FakeRefusal, type FakeError, type FakeReason } from './fake-error.ts';
export type { FakeAnswer, FakeInput, FakeRequest, FakeResult } from './fake-request.ts';
export type { BotocoreDocument } from './botocore.ts';
export type { DiscoveryDocument } from './discovery.ts';
export type { OpenApiDocument } from './openapi-files.ts';
export type { FakeBehaviour, FakeContext } from './fake-model.ts';
export type { JsonSchema } from './schema-check.ts';
export type {
  FakeAction,
  FakeChange,
  FakeErrors,
  FakeLag,
  FakeLongOperation,
  FakeOperations,
  FakePageNumbers,
  FakePaging,
  FakeReference,
  FakeResource,
  FakeState,
  FakeStates,
  FakeTable,
  FakeThing,
  FakeVersions,
} from './fake-table.ts';
