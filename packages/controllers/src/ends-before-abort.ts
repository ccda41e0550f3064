/** Whether something was waited for to its end. Rejects as `wait` does, unless `signal` has aborted. */
export async function endsBeforeAbort(wait: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    await wait;
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
