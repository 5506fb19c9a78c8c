// swift-tools-version: 6.2
import PackageDescription

// As a user's package: it has Postern by version, and builds both of its libraries.
let package = Package(
    name: "dependent",
    dependencies: [
        .package(url: "https://git.test/postern", from: "1.0.0")
    ],
    targets: [
        .executableTarget(
            name: "Dependent",
            dependencies: [
                .product(name: "HTTPEngine", package: "postern"),
                .product(name: "PosternTesting", package: "postern"),
            ])
    ])
