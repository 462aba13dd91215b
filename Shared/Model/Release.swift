/// The release that this source belongs to. Programs, libraries and packages take it from here.
package enum Release {
    package static let version = "0.2.0"
}
