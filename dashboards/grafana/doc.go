// Package grafana reads the dashboards by Grafana's own types of panels and queries. Those are large, and no other
// program needs them, so this is a module of its own. The gate clients runs it. Grafana itself is under the AGPL: no test starts it.
package grafana
