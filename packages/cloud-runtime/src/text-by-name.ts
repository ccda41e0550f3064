/** Labels, annotations, tags: an object whose values are text. A provider may be written in JavaScript. */
export function isTextByName(value: unknown): value is Readonly<Record<string, string>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord && Object.values(value).every((one) => typeof one === 'string');
}
