/** Image credential provider of the kubelet. See ../README.md. */
export { imageCredentialsCommand, type CommandIo, type ProviderName } from './command.ts';
export { imageCredentialsFiles } from './deploy-files.ts';
export { failureCodes, type FailureCode, type FailureMeaning } from './failure.ts';
