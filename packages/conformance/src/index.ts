export type { ConformanceReport, Outcome, TestResult } from './conformance-report.ts';
