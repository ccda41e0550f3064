/** What AWS says when it refuses, and how those who plan read it. */
import { isCloudError } from '@outrigger/cloud-provider';
import type { ApiError, HttpError } from '@outrigger/provider-kit';
import { XmlCursor } from './xml-cursor.ts';

/** AWS' own code of an error: `InvalidInstanceID.NotFound`. `undefined`: AWS did not say it. */
export function awsCodeOf(error: unknown): string | undefined {
  const code = isCloudError(error) ? (error as Partial<HttpError>).apiCode : undefined;
  return code === '' ? undefined : code;
}

/** What AWS names in an error, each once: `namedIn(error, /\bi-[0-9a-f]+\b/gu)` has the instances that there are not. The pattern is global. */
export function namedIn(error: unknown, pattern: RegExp): readonly string[] {
  if (awsCodeOf(error) === undefined) return [];
  const { detail, message } = error as HttpError;
  return [...new Set((detail?.['message'] ?? message).match(pattern))];
}

/**
 * `<Response><Errors><Error>` of EC2, and `<ErrorResponse><Error>` of the query APIs. The message is whole in `detail`: one of EC2 may name
 * 500 instances. `undefined` for what is neither.
 */
export function errorIn(text: unknown): ApiError | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    return readError(new XmlCursor(text));
  } catch {
    return undefined;
  }
}

function readError(cursor: XmlCursor): ApiError | undefined {
  const open = [cursor.root()];
  let code: string | undefined;
  let message = '';
  for (let parent = open.at(-1); parent !== undefined; parent = open.at(-1)) {
    const child = cursor.child(parent);
    if (child === undefined) {
      // Of several, the first.
      if (parent === 'Error' && code !== undefined) return { code, message, detail: { message } };
      open.pop();
    } else if (child === 'Code') code = cursor.text(child);
    else if (child === 'Message') message = withoutEncoded(cursor.text(child));
    else if (child === 'Errors' || child === 'Error') open.push(child);
    else cursor.skip(child);
  }
  return undefined;
}

/** A kilobyte that only `aws sts decode-authorization-message` can read. */
function withoutEncoded(message: string): string {
  const at = message.indexOf('Encoded authorization failure message:');
  return at < 0 ? message : message.slice(0, at).trimEnd();
}
