/** What each provider would write again. See ../README.md. */

// Objects of the cloud that many Services share
export {
  GroupCommit,
  type Change,
  type GroupCommitOptions,
  type SharedObjects,
  type Versioned,
} from './group-commit/group-commit.ts';
