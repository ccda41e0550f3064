/** The repository of a new provider, and what checks and collects such repositories. See ../README.md. */
export { createRepository, type CreateOptions } from './create/create-repository.ts';
export type { Capability } from './create/capabilities.ts';
export { lintRepository, type Finding, type RepositoryReport } from './lint/lint-repository.ts';
export { collectDocs, type CollectedDocs, type CollectOptions } from './docs/collect-docs.ts';
export type { ConformanceSummary } from './docs/conformance-summary.ts';
export type { IndexedProvider } from './docs/provider-index.ts';
export type { ProviderCard } from './provider-card.ts';

// Links of pages in Markdown
export { brokenLinks } from './docs/broken-links.ts';
export { anchorsOf, linksOf } from './docs/doc-links.ts';
