/** What can go wrong, by stable codes. The kubelet logs what is printed on stderr, so no message may hold a secret. */

/** What a code says, for the README's table and for people. */
export interface FailureMeaning {
  readonly meaning: string;
  readonly doNext: string;
}

export type FailureCode =
  | 'bad-request'
  | 'usage'
  | 'configuration'
  | 'registry-not-allowed'
  | 'no-identity'
  | 'unauthenticated'
  | 'forbidden'
  | 'throttled'
  | 'unavailable'
  | 'timeout'
  | 'refused'
  | 'bad-answer'
  | 'internal';

/** Codes are added, never renamed: people look for them in the logs of kubelets. */
export const failureCodes: Readonly<Record<FailureCode, FailureMeaning>> = {
  'bad-request': {
    meaning: 'What came on stdin is no `CredentialProviderRequest` of `credentialprovider.kubelet.k8s.io/v1`.',
    doNext: 'Correct `apiVersion` in the `CredentialProviderConfig`.',
  },
  usage: {
    meaning: 'The command line is wrong.',
    doNext: 'Correct `args` in the `CredentialProviderConfig`.',
  },
  configuration: {
    meaning: 'The configuration, or a file that it names, cannot be used.',
    doNext: 'Correct the file, line and key that are named.',
  },
  'registry-not-allowed': {
    meaning: 'The image is in no registry of the allow-list. Nothing was sent anywhere.',
    doNext: 'Add the registry to `registries`, or take it out of `matchImages`.',
  },
  'no-identity': {
    meaning: 'There is no identity to ask with: no role, no managed identity, no service account.',
    doNext: 'Give the node an identity, or name one in the configuration or in the annotation of the service account.',
  },
  unauthenticated: {
    meaning: 'The identity was refused.',
    doNext: 'Check the trust between cluster and cloud: issuer, audience, subject, secret.',
  },
  forbidden: {
    meaning: 'The identity may not do this.',
    doNext: 'Give it the permission to pull.',
  },
  throttled: {
    meaning: 'Too many requests, also after waiting.',
    doNext: 'Nothing: the kubelet asks again.',
  },
  unavailable: {
    meaning: 'A service does not answer, or answers with an error of its own, also after a second and a third request.',
    doNext: 'Check network, proxy and certificates.',
  },
  timeout: {
    meaning: 'There was no answer in time.',
    doNext: 'Check network and proxy; `timeout` is the limit of the whole.',
  },
  refused: {
    meaning: 'A service refused the request for another reason, which is named by its status.',
    doNext: 'Check the configuration of that service.',
  },
  'bad-answer': {
    meaning: 'A service answered with something else than is documented.',
    doNext: 'Check that the URL is that of the service.',
  },
  internal: {
    meaning: 'A defect of this program.',
    doNext: 'Report it.',
  },
};

export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
    this.code = code;
  }
}
