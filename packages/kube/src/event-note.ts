/** What is said of an object in a Kubernetes Event. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, one word for a machine. */
  readonly reason: string;
  /** One sentence for a person: what happened, to what, what to do. At most 1,024 bytes are kept. */
  readonly message: string;
}
