"""The writing wing: edits, syntax trees and the boundary."""
