/** What each provider would write again. See ../README.md. */

// Objects of the cloud that many Services share
export {
  GroupCommit,
  type Change,
  type GroupCommitOptions,
  type SharedObjects,
  type Versioned,
} from './group-commit/group-commit.ts';

// HTTP
export {
  HttpClient,
  type BodyFormat,
  type HttpAnswer,
  type HttpClientOptions,
  type HttpRequest,
  type ListOptions,
} from './http/http-client.ts';
export {
  HttpTransport,
  proxiesOf,
  type Fetch,
  type HttpMethod,
  type HttpTransportOptions,
  type Proxies,
  type ReceivedHttp,
  type SentHttp,
  type TlsSettings,
} from './http/http-transport.ts';
export { ListBound } from './http/list-bound.ts';
export type { Operation, Query } from './http/operation.ts';
export {
  nextByLink,
  nextByMarker,
  nextByToken,
  nextByUrl,
  PagedList,
  type AnsweredPage,
  type NextPage,
  type PagedListOptions,
} from './http/paged-list.ts';
export { RestCollection, type RestCollectionOptions } from './http/rest-collection.ts';
export { isHttpError, type ApiError, type ErrorRule, type HttpError } from './http/refusal.ts';
export { SharedToken, type FetchedToken, type SharedTokenOptions } from './http/shared-token.ts';
export { tokenCredentials, type TokenCredentialsOptions } from './http/token-credentials.ts';
export { untilAborted } from './http/until-aborted.ts';
export {
  soapAnswer,
  SoapClient,
  soapEnvelope,
  soapError,
  soapFormat,
  type SoapApi,
  type SoapRequest,
  type XmlElement,
} from './http/soap.ts';
export { xmlChild, xmlChildren, xmlText } from './http/xml-element.ts';
export { xmlError, xmlFormat, type XmlFormatOptions } from './http/xml-format.ts';
export { sharedHttpObjects, type SharedHttpObjectsOptions } from './http/shared-http-objects.ts';
export { Operations, pollUntil, type BegunOperation } from './http/operations.ts';

// Load balancers of parts
export { partLoadBalancers, type PartLoadBalancersOptions } from './parts/part-load-balancers.ts';
export type {
  Attributes,
  Begun,
  ListedPart,
  PartKind,
  PartRequest,
  ThereParts,
  WantedPart,
} from './parts/part-kind.ts';
export { restPartCalls, type RestPartCallsOptions } from './parts/rest-part-calls.ts';
export { ownerIn, tagsOf } from './parts/owner-tags.ts';
export { SharedSelections } from './parts/shared-selections.ts';

// Routes
export { routesOneByOne, type RoutesOneByOneOptions } from './routes/routes-one-by-one.ts';

// Configuration and annotations
export {
  named,
  optional,
  required,
  secret,
  unused,
  type ConfigKey,
  type ConfigOf,
  type ConfigSchema,
  type NamedSections,
} from './config/config-schema.ts';
export {
  bool,
  cidr,
  duration,
  listOf,
  oneOf,
  text,
  thumbprint,
  url,
  wholeNumber,
  type ValueKind,
} from './config/value-kinds.ts';
export { checkWithWarnings } from './config/check-with-warnings.ts';
export { readConfig, type ReadConfigOptions } from './config/read-config.ts';
export { readMountedFiles } from './config/mounted-files.ts';
export { RefusedCredentials } from './config/refused-credentials.ts';
export { didYouMean } from './config/closest-name.ts';
export { configTable } from './config/config-table.ts';
export { ConfigSyntaxError } from './config/config-syntax-error.ts';
export { parseGcfg, type GcfgEntry } from './config/gcfg.ts';
export { parseGoDuration } from './config/go-duration.ts';
export {
  annotationTable,
  type AnnotationRow,
  type AnnotationRows,
  type AnnotationTable,
  type AnnotationValues,
} from './annotations/annotation-table.ts';

// Machines
export {
  instancesFromList,
  type InstancesFromListOptions,
  type MachineInstance,
} from './instances/instances-from-list.ts';
export {
  chooseAddresses,
  sameNetwork,
  usableAddresses,
  type AddressRules,
  type ChosenAddresses,
  type IpFamily,
  type MachineInterface,
  type UsableAddress,
  type UsableAddresses,
} from './instances/choose-addresses.ts';
export { hintsOfAll, type HintSource } from './instances/hints-of-all.ts';
export { SharedRound } from './instances/shared-round.ts';
