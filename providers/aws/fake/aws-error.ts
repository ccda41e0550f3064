/** Refusals by AWS' own codes. */
import { FakeRefusal } from '@outrigger/provider-kit/fake';

/** 400, as nearly all of them. */
export function refused(code: string, message: string): FakeRefusal {
  return new FakeRefusal('invalid', message, code);
}

/** 403. */
export function denied(code: string, message: string): FakeRefusal {
  return new FakeRefusal('forbidden', message, code);
}

/** EC2: `RequestLimitExceeded` (503). The others: `Throttling` (400). */
export function throttled(): FakeRefusal {
  return new FakeRefusal('quota', 'Rate exceeded');
}

/** Of a dry run of EC2: whoever asks is allowed to. */
export function wouldSucceed(): FakeRefusal {
  return new FakeRefusal('changed', 'Request would have succeeded, but DryRun flag is set.');
}
