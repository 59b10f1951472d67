/** Writes metrics in the Prometheus text format: counters, gauges and histograms with a bounded number of series. */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels?: Labels, amount?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Removes all series, so that things which are gone are not shown. */
  clear(): void;
}
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

interface Definition {
  readonly name: string;
  /** One sentence for readers of the metrics page. */
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Metrics {
  counter(definition: Definition): Counter;
  /** Adds a gauge. If `read` is given, each page calls it instead of using a stored value. */
  gauge(definition: Definition & { readonly read?: () => number }): Gauge;
  histogram(definition: Definition & { readonly buckets?: readonly number[] }): Histogram;
  /** Renders the page in the text format 0.0.4. */
  render(): string;
}

/** Longer label values are cut to this many characters. */
const longestValue = 128;

/** Upper bounds in seconds, from a quick answer to a long turn. */
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

interface Series {
  readonly labels: string;
  value: number;
  readonly counts: number[];
}

interface Family extends Definition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly buckets: readonly number[];
  readonly read?: (() => number) | undefined;
  /** Series by their label values. */
  readonly series: Map<string, Series>;
}

/**
 * Creates a registry. A metric with more than `maxSeries` combinations of labels counts the rest under the value
 * `other`.
 */
export function createMetrics(options: { readonly maxSeries?: number } = {}): Metrics {
  const { maxSeries = 200 } = options;
  const families = new Map<string, Family>();

  const declare = (type: Family["type"], definition: Definition, extra: Partial<Family> = {}): Family => {
    if (!/^[a-z][a-z0-9_]*$/.test(definition.name) || families.has(definition.name)) {
      throw new Error(`The metric ${definition.name} is declared twice, or has an invalid name.`);
    }
    const family: Family = { ...definition, type, buckets: [], ...extra, series: new Map() };
    families.set(family.name, family);
    // A metric without labels has one series. It is shown from the start, so that rates can be computed.
    if ((family.labels ?? []).length === 0) seriesOf(family, {});
    return family;
  };

  const seriesOf = (family: Family, labels: Labels): Series => {
    const names = family.labels ?? [];
    const values = names.map((name) => (labels[name] ?? "").slice(0, longestValue));
    const known = family.series.get(values.join("\0"));
    if (known !== undefined) return known;
    const full = family.series.size >= maxSeries;
    const labelValues = full ? names.map(() => "other") : values;
    const key = labelValues.join("\0");
    const made = family.series.get(key) ?? {
      labels: renderLabels(names.map((name, index) => [name, labelValues[index] ?? ""])),
      value: 0,
      counts: new Array<number>(family.buckets.length + 1).fill(0),
    };
    family.series.set(key, made);
    return made;
  };

  return {
    counter(definition) {
      const family = declare("counter", definition);
      return {
        add(labels = {}, amount = 1) {
          seriesOf(family, labels).value += amount;
        },
      };
    },
    gauge(definition) {
      const family = declare("gauge", definition, { read: definition.read });
      return {
        set(value, labels = {}) {
          seriesOf(family, labels).value = value;
        },
        clear: () => family.series.clear(),
      };
    },
    histogram(definition) {
      const family = declare("histogram", definition, { buckets: definition.buckets ?? defaultBuckets });
      return {
        observe(value, labels = {}) {
          const series = seriesOf(family, labels);
          series.value += value;
          const index = family.buckets.findIndex((bound) => value <= bound);
          const slot = index === -1 ? family.buckets.length : index;
          series.counts[slot] = (series.counts[slot] ?? 0) + 1;
        },
      };
    },
    render() {
      return [...families.values()].map(renderFamily).join("");
    },
  };
}

function renderFamily(family: Family): string {
  const lines = [
    `# HELP ${family.name} ${family.help.replace(/\\/g, "\\\\").replace(/\n/g, " ")}`,
    `# TYPE ${family.name} ${family.type}`,
  ];
  for (const series of family.series.values()) {
    if (family.type === "histogram") lines.push(...renderHistogram(family, series));
    else
      lines.push(
        `${family.name}${series.labels} ${renderNumber(family.read === undefined ? series.value : family.read())}`,
      );
  }
  return `${lines.join("\n")}\n`;
}

function renderHistogram(family: Family, series: Series): string[] {
  const inner = series.labels === "" ? "" : `${series.labels.slice(1, -1)},`;
  let total = 0;
  const lines = [...family.buckets.map(String), "+Inf"].map((bound, index) => {
    total += series.counts[index] ?? 0;
    return `${family.name}_bucket{${inner}le="${bound}"} ${total}`;
  });
  return [
    ...lines,
    `${family.name}_sum${series.labels} ${renderNumber(series.value)}`,
    `${family.name}_count${series.labels} ${total}`,
  ];
}

function renderLabels(pairs: readonly (readonly [string, string])[]): string {
  if (pairs.length === 0) return "";
  const quoted = (value: string): string => value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
  return `{${pairs.map(([name, value]) => `${name}="${quoted(value)}"`).join(",")}}`;
}

function renderNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
