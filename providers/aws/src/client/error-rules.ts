/** What the codes of AWS' errors mean. The first row that fits counts; without one, the status says it. */
import type { ErrorRule } from '@outrigger/provider-kit';

/**
 * EC2's common client errors, those of both ELB APIs and of STS. EC2's model names none, and there are hundreds: their endings have a
 * meaning. A refusal for being too much comes as 400, 429 and 503, and always before anything was done.
 */
export const errorRules: readonly ErrorRule[] = [
  {
    code: /throttl|^RequestLimitExceeded$|^TooManyRequests|^SlowDown$|^BandwidthLimitExceeded$/iu,
    means: 'throttled',
    effect: 'none',
  },
  // Whether the request was valid is not known: what it asks for may still come about.
  {
    code: /^(?:InternalError|InternalFailure|ServiceUnavailable|Unavailable|RequestTimeout|IDPCommunicationError)/u,
    means: 'unavailable',
    effect: 'unknown',
  },
  { status: 401, code: /./u, means: 'unauthenticated' },
  {
    code: /^(?:Expired?Token|InvalidClientTokenId|InvalidIdentityToken|IDPRejectedClaim|UnrecognizedClient|SignatureDoesNotMatch|InvalidSignature|IncompleteSignature|RequestExpired|RequestTimeTooSkewed|RequestInTheFuture|MissingAuthenticationToken|InvalidAccessKeyId|InvalidToken|NotAuthenticated)/u,
    means: 'unauthenticated',
  },
  // EC2's AuthFailure comes as 401 where it is the credentials, which the row above has taken.
  {
    code: /^(?:Unauthorized|AccessDenied|AuthFailure|OptInRequired|Blocked|PendingVerification|AccountDisabled|NotAuthorized|RegionDisabled)/u,
    means: 'forbidden',
  },
  { code: /NotFound(?:Exception)?$/u, means: 'not-found' },
  {
    code: /LimitExceeded$|^TooMany|AssociationLimit$|QuotaExceeded|^Insufficient|CapacityExceeded|CapacityUnitsLimit/u,
    means: 'quota',
  },
  {
    code: /Duplicate|AlreadyExists|AlreadyAssociated|InUse$|DependencyViolation|IncorrectState|IncorrectInstanceState|InvalidState|ConcurrentModification|PriorRequestNotComplete|OperationNotPermitted|OperationInProgress|VersionConflict|PendingModification/u,
    means: 'conflict',
    effect: 'none',
  },
  {
    code: /^(?:Unsupported|InvalidAction|UnknownOperation|NotImplemented|OptionNotSupported)/u,
    means: 'unsupported',
    effect: 'none',
  },
];
